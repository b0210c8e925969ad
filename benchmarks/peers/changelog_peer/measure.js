// Writes the changelog of a history that is in memory, again and again, in one process: `node measure.js FILE TIMES`.
// Prints JSON: the seconds that each time took, and the changelog of the last. No git is run: the client below gives
// what git would have said, and everything after that is the library's own.
import { readFileSync } from "node:fs";

import { ConventionalGitClient } from "@conventional-changelog/git-client";
import { ConventionalChangelog } from "conventional-changelog";
import createPreset from "conventional-changelog-conventionalcommits";

const [, , file, times] = process.argv;
const { stretches, repository } = JSON.parse(readFileSync(file, "utf8"));

class InMemory extends ConventionalGitClient {
  constructor() {
    super(process.cwd());
    // From one tag to the next, oldest first: as the library asks for them.
    this.asked = new Map();
    const tags = stretches.map((stretch) => stretch.find((commit) => commit.tag)?.tag);
    this.tags = tags.filter(Boolean);
    const oldestFirst = stretches.slice().reverse();
    let before = "";
    for (const stretch of oldestFirst) {
      const to = stretch.find((commit) => commit.tag)?.tag ?? "HEAD";
      this.asked.set(`${before}..${to}`, stretch);
      before = to;
    }
  }

  async verify() {
    return "HEAD";
  }

  async *getTags() {
    yield* this.tags;
  }

  async *getRawCommits({ from = "", to = "HEAD" }) {
    for (const { message, hash, tag, date } of this.asked.get(`${from}..${to}`) ?? []) {
      yield `${message}\n\n-hash-\n${hash}\n-gitTags-\n${tag ? ` (tag: ${tag})` : ""}\n-committerDate-\n${date}`;
    }
  }
}

const preset = await createPreset();

async function changelog() {
  const written = new ConventionalChangelog(new InMemory())
    .config(preset)
    .repository(repository)
    .package({ name: "lighthouse", version: "1.21.0" })
    .options({ releaseCount: 0 })
    .write();
  let text = "";
  for await (const part of written) text += part;
  return text;
}

const seconds = [];
let text = "";
for (let turn = 0; turn < Number(times); turn += 1) {
  const began = process.hrtime.bigint();
  text = await changelog();
  seconds.push(Number(process.hrtime.bigint() - began) / 1e9);
}
process.stdout.write(JSON.stringify({ seconds, text }));
