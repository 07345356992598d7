import { createInterface } from 'node:readline/promises'

/** A command's access to the world; tests pass their own. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly out: (text: string) => void
  /** Writes progress and errors, so that stdout can be piped. */
  readonly err: (text: string) => void
  /** True when a person reads the output: progress is shown. */
  readonly isInteractive: boolean
  /** Asks a person; absent without one. Any answer other than yes means no. */
  readonly confirm?: (question: string) => Promise<boolean>
  /** Asks a person for a line of text, trimmed; absent like `confirm`. */
  readonly ask?: (question: string) => Promise<string>
}

async function confirm(question: string): Promise<boolean> {
  return /^y(es)?$/i.test(await ask(question))
}

async function ask(question: string): Promise<string> {
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await asking.question(question)).trim()
  } finally {
    asking.close()
  }
}

export function processIo(): Io {
  return {
    env: process.env,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    isInteractive: process.stderr.isTTY === true,
    ...(process.stdin.isTTY === true && process.stderr.isTTY === true ? { confirm, ask } : {}),
  }
}
