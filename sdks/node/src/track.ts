/** `track.lead`, `track.sale` and `track.refund`: they resolve to a result and never reject. */

import { attempt } from "./delivery.js";
import { prepare, type CallName, type LeadFields, type PreparedCall, type RefundFields, type SaleFields } from "./fields.js";
import { outboxFailed, report } from "./log.js";
import { Outbox } from "./outbox.js";
import { Resender } from "./resender.js";
import { broken, failed, queued, skipped } from "./result.js";
import type { LeadResult, RefundResult, SaleResult, TrackResult } from "./result.js";
import { CLICK_COOKIE, target, TIMEOUT_MS, type Options, type Target } from "./settings.js";

/** Reports to the service. A method takes at most the timeout, and never throws. */
export class Track {
  readonly #options: Options;
  readonly #resender: Resender;
  readonly #clickId: string | undefined;

  constructor(options: Options = {}, visitor?: { resender: Resender; clickId: string | undefined }) {
    this.#options = options;
    this.#resender = visitor?.resender ?? new Resender(options);
    this.#clickId = visitor?.clickId;
  }

  /** The same for one visitor: with the value of the cookie `svc_click_id`, or the whole header `Cookie`. */
  of({ clickId, cookie }: { clickId?: string | null | undefined; cookie?: string | null | undefined }): Track {
    return new Track(this.#options, { resender: this.#resender, clickId: clickId ?? read(cookie ?? "") });
  }

  /** Report that a visitor has signed up. */
  lead(fields: LeadFields): Promise<LeadResult> {
    return this.#call("lead", fields);
  }

  /** Report that a customer has paid. */
  sale(fields: SaleFields): Promise<SaleResult> {
    return this.#call("sale", fields);
  }

  /** Report that a sale was refunded. */
  refund(fields: RefundFields): Promise<RefundResult> {
    return this.#call("refund", fields);
  }

  /** Send what waits in the outbox, now; resolves to how many calls still wait. It takes as long as it takes. */
  async resend(): Promise<number> {
    try {
      const { outbox } = target(this.#options);
      return outbox ? await this.#resender.resend(outbox) : 0;
    } catch (problem) {
      outboxFailed(problem);
      return 0;
    }
  }

  async #call(name: CallName, fields: object): Promise<TrackResult<any>> {
    try {
      const now = target(this.#options);
      const clicked = name !== "refund" && this.#clickId ? { click_id: this.#clickId } : {};
      const call = prepare(name, { ...clicked, ...fields }, now.isTest);
      return call ? await this.#send(call, now) : skipped(name);
    } catch (problem) {
      const result = broken(name, problem);
      report(result);
      return result;
    }
  }

  async #send(call: PreparedCall, now: Target): Promise<TrackResult<any>> {
    const isBehind = now.outbox !== null && new Outbox(now.outbox).waiting().length > 0;
    const sent = isBehind
      ? failed(call, "outbox_waiting", "Earlier calls wait in the outbox. This one waits behind them.")
      : await attempt(call, now, this.#options.timeout_ms ?? TIMEOUT_MS);
    const kept = sent.status === "failed" && now.outbox ? this.#keep(call, now.outbox, sent) : sent;
    report(kept);
    return kept;
  }

  /** Put a call that did not arrive into the outbox. */
  #keep(call: PreparedCall, folder: string, sent: Extract<TrackResult<any>, { ok: false }>): TrackResult<any> {
    try {
      const kept = new Outbox(folder).put(call) ? queued(call, sent.error) : sent;
      this.#resender.start(folder);
      return kept;
    } catch (problem) {
      outboxFailed(problem);
      return sent;
    }
  }
}

/** The click id in a Cookie header. */
function read(header: string): string | undefined {
  const pairs = header.split(";").map((pair) => pair.trim().split("="));
  return pairs.find(([name]) => name === CLICK_COOKIE)?.[1];
}
