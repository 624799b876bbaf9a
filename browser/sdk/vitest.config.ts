import { defineConfig } from "vitest/config";

const settings = { disableJavaScriptFileLoading: true, handleDisabledFileLoadingAsSuccess: true }; // no network
export default defineConfig({ test: { environment: "happy-dom", environmentOptions: { happyDOM: { settings } } } });
