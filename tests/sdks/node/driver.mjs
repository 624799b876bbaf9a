/** Prints `ready`, makes the calls that tests send as lines of JSON, with the installed package, and prints each result as a line. */

import { createInterface } from "node:readline";
import { Track } from "svc-affiliate";

const tracks = new Map();
console.log("ready");

for await (const line of createInterface({ input: process.stdin })) {
  const { options, environment, folder, call, fields } = JSON.parse(line);
  for (const name of Object.keys(process.env)) if (name.startsWith("SERVICE_")) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(folder);
  const about = JSON.stringify(options);
  if (!tracks.has(about)) tracks.set(about, new Track(options));
  const track = tracks.get(about);
  console.log(JSON.stringify(call === "resend" ? await track.resend() : await track[call](fields)));
}
