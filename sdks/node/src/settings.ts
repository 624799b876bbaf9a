/** Where the service is and which key opens it: options, else the environment, else the project's .svc/.env. */

import { node } from "./node.js";

export interface Options {
  /** The program key, or a function that returns it. */
  api_key?: string | (() => string) | undefined;
  program_id?: number | undefined;
  base_url?: string | undefined;
  /** How long a call may take in all; 2000 by default. */
  timeout_ms?: number | undefined;
  /** A folder for calls that must wait. */
  outbox?: string | undefined;
  test_mode?: boolean | undefined;
  /** Get what each call would be answered, and store nothing. */
  dry_run?: boolean | undefined;
}

/** The service that one call goes to. */
export interface Target {
  key: string;
  baseUrl: string;
  isTest: boolean;
  outbox: string | null;
  isDry: boolean;
}

export const CLICK_COOKIE = "svc_click_id";
export const TIMEOUT_MS = 2000;
const LOCAL = "http://127.0.0.1:8000";

/** Where a call goes now: read at each call, so that a new key counts without a restart. */
export function target(options: Options): Target {
  const found: Record<string, string | undefined> = { ...stored(), ...environment() };
  const key = typeof options.api_key === "function" ? options.api_key() : options.api_key || found.SERVICE_API_KEY || "";
  const baseUrl = (options.base_url || found.SERVICE_BASE_URL || LOCAL).replace(/\/+$/, "");
  const program = String(options.program_id || found.SERVICE_PROGRAM_ID || /^aff_(\d+)_/.exec(key)?.[1] || "unknown");
  const isDry = options.dry_run ?? false;
  const folder = isDry ? undefined : options.outbox || found.SERVICE_OUTBOX; // a dry run is never repeated
  return {
    key,
    baseUrl,
    isTest: options.test_mode ?? ["1", "on", "true"].includes((found.SERVICE_TEST_MODE ?? "").toLowerCase()),
    outbox: folder ? (node()?.path.join(folder, nameOf(baseUrl, program)) ?? null) : null,
    isDry,
  };
}

/** The name of a program's folder: what waits for a sandbox is never sent to the live program. */
function nameOf(baseUrl: string, program: string): string {
  return `${baseUrl.replace(/^.*?:\/\//, "")}-${program}`.replaceAll(/[^\w.-]+/g, "-");
}

function environment(): Record<string, string | undefined> {
  return typeof process === "undefined" ? {} : process.env;
}

/** The settings of `.svc/.env`, in the working folder or above. */
function stored(): Record<string, string> {
  const modules = node();
  if (!modules) return {};
  const { fs, path } = modules;
  for (let here = process.cwd(); ; here = path.dirname(here)) {
    const file = path.join(here, ".svc", ".env");
    if (fs.existsSync(file)) return parsed(fs.readFileSync(file, "utf8"));
    if (here === path.dirname(here)) return {};
  }
}

function parsed(text: string): Record<string, string> {
  const lines = text.split(/\r?\n/).map((line) => /^(?:export )?([A-Z_]+)=(.*)$/.exec(line));
  return Object.fromEntries(
    lines.filter((line) => line !== null).map((line) => [line[1], line[2]!.trim().replace(/^(["'])(.*)\1$/, "$2")]),
  );
}
