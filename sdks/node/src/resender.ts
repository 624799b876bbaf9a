/** Resends what waits in an outbox: in the background while a process runs, or when it is asked to. */

import { attempt } from "./delivery.js";
import { outboxFailed, report } from "./log.js";
import { Outbox } from "./outbox.js";
import type { TrackResult } from "./result.js";
import { target, type Options } from "./settings.js";

const TIMEOUT_MS = 10_000;
const SHORTEST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** Resends the calls of one Track. */
export class Resender {
  #isRunning = false;

  constructor(readonly options: Options) {}

  /** Resend in the background until nothing waits; it does not keep the process alive. */
  start(folder: string, wait = SHORTEST_WAIT_MS): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const timer = setTimeout(async () => {
      const left = await this.resend(folder);
      this.#isRunning = false;
      if (left > 0) this.start(folder, Math.min(wait * 2, LONGEST_WAIT_MS));
    }, wait);
    timer.unref?.();
  }

  /** Send what waits, in order, until the service or the key is out; return how many calls still wait. */
  async resend(folder: string): Promise<number> {
    try {
      const outbox = new Outbox(folder);
      if (outbox.waiting().length > 0) await outbox.locked(() => this.#sendAll(outbox));
      return outbox.waiting().length;
    } catch (problem) {
      outboxFailed(problem);
      return 0; // the next call starts again
    }
  }

  async #sendAll(outbox: Outbox): Promise<void> {
    for (const name of outbox.waiting()) {
      outbox.keepLock();
      const call = outbox.read(name);
      const now = target(this.options);
      if (now.outbox !== outbox.folder) return;
      if (call && !filed(outbox, name, await attempt(call, now, TIMEOUT_MS))) return;
    }
  }
}

/** Remove a call that was sent again, or keep it; return whether to go on with the next. */
function filed(outbox: Outbox, name: string, sent: TrackResult<unknown>): boolean {
  report(sent);
  if (sent.status === "rejected") outbox.setAside(name);
  else if (sent.status !== "failed") outbox.remove(name);
  return sent.status !== "failed" || sent.error.code === "internal_error";
}
