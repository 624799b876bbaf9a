// What builds put into the code that they bundle.

interface ImportMetaEnv {
  readonly VITE_SERVICE_BASE_URL?: string;
  readonly VITE_SERVICE_PROGRAM_ID?: string;
}

interface ImportMeta {
  readonly env: ImportMetaEnv;
}
