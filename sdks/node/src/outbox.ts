/** Calls that wait for the service or for a new key: a folder with one file for each, sent in their order. */

import type { PreparedCall } from "./fields.js";
import { node } from "./node.js";

const WAITING = ".json";
const MOST_WAITING = 10_000;
const LOCK_MS = 60_000; // a lock that was not touched for so long was left by a process that ended

/** The calls of one program that wait. Processes may share the folder, also with the SDK for Python. */
export class Outbox {
  readonly #node = node()!;

  constructor(readonly folder: string) {}

  /** The files of the calls that wait, oldest first. */
  waiting(): string[] {
    if (!this.#node.fs.existsSync(this.folder)) return [];
    return this.#node.fs.readdirSync(this.folder).filter((name) => name.endsWith(WAITING)).sort();
  }

  /** Let a call wait, unless too many do; return whether it waits. Throws if the folder cannot be written. */
  put(call: PreparedCall): boolean {
    if (this.waiting().length >= MOST_WAITING) return false;
    const { fs } = this.#node;
    fs.mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const microseconds = Math.trunc((performance.timeOrigin + performance.now()) * 1000);
    const name = `${String(microseconds).padStart(17, "0")}000-${call.repeat_key}`;
    fs.writeFileSync(this.#path(`${name}.new`), JSON.stringify(call), { mode: 0o600, flush: true });
    fs.renameSync(this.#path(`${name}.new`), this.#path(name + WAITING));
    return true;
  }

  /** The call of a file; null if another process has sent it. */
  read(name: string): PreparedCall | null {
    const path = this.#path(name);
    return this.#node.fs.existsSync(path) ? JSON.parse(this.#node.fs.readFileSync(path, "utf8")) : null;
  }

  remove(name: string): void {
    this.#node.fs.rmSync(this.#path(name), { force: true });
  }

  /** Keep a call that the service rejected, for a person to read. */
  setAside(name: string): void {
    this.#node.fs.renameSync(this.#path(name), this.#path(name.replace(WAITING, ".rejected")));
  }

  /** Run something if no other process is sending: one at a time, so that a lead comes before its sale. */
  async locked(run: () => Promise<void>): Promise<void> {
    if (!this.#take()) return;
    try {
      await run();
    } finally {
      this.remove("lock");
    }
  }

  /** Say that this process is still sending. */
  keepLock(): void {
    const now = new Date();
    this.#node.fs.utimesSync(this.#path("lock"), now, now);
  }

  #take(): boolean {
    const { fs } = this.#node;
    const held = fs.statSync(this.#path("lock"), { throwIfNoEntry: false });
    if (held && Date.now() - held.mtimeMs > LOCK_MS) this.remove("lock");
    try {
      fs.closeSync(fs.openSync(this.#path("lock"), "wx", 0o600));
      return true;
    } catch {
      return false;
    }
  }

  #path(name: string): string {
    return this.#node.path.join(this.folder, name);
  }
}
