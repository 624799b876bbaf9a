// next.config.mjs
import { existsSync } from "node:fs";
import { loadEnvFile } from "node:process";

if (existsSync(".svc/.env")) loadEnvFile(".svc/.env");

export default {};
