import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import { SUPERVISORS } from './reap-services.js'

export interface Handler {
  readonly url: string
  /** Its standard error output. */
  said(): string
  /** Acts like a crash. */
  kill(): Promise<void>
  freeze(): void
  thaw(): void
  /** Sends SIGTERM. @returns its exit code */
  stop(): Promise<number | null>
}

/**
 * Starts `countersign cluster handler` with a journal's file.
 * @throws Error when it ends at once
 */
export async function startHandler(journalFile: string): Promise<Handler> {
  const child = spawn(process.execPath, ['dist/src/cli/main.js', '--json', 'cluster', 'handler'], {
    env: { PATH: process.env.PATH ?? '', COUNTERSIGN_JOURNAL_FILE: journalFile },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const pidFile = join(inject('runDirectory'), SUPERVISORS, String(child.pid))
  writeFileSync(pidFile, '')
  const exited = once(child, 'exit').then(([code]) => {
    rmSync(pidFile, { force: true })
    return code as number | null
  })
  let out = ''
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err = (err + text).slice(-4_000)
  })
  const listens = new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
      const { listens_on: host, port } = parsed(out)
      if (host !== undefined) resolve(`http://${String(host)}:${String(port)}`)
    })
  })
  const failed = exited.then((code) => {
    throw new Error(`the handler ended with ${String(code)}: ${err}`)
  })
  failed.catch(() => undefined)
  return {
    url: await Promise.race([listens, failed]),
    said: () => err,
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    stop() {
      child.kill('SIGTERM')
      return exited
    },
  }
}

/** Returns an empty object while the text is incomplete. */
function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}
