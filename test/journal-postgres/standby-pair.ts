import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, startChild } from '../../bench/child-process.js'
import { freePort } from '../../bench/free-port.js'
import { issuerOf, type SinkStack, startSinkStack } from '../../bench/sink-stack.js'
import { makeAuthority } from '../../scripts/dev/certificates.js'
import { createPostgres, type PostgresServer } from '../support/postgres-server.js'

/** Two homes of one installation, with one journal, user side and quorum signer. */
export interface StandbyPair {
  readonly server: PostgresServer
  /** Of the first home, whose service is the first owner. */
  readonly stack: SinkStack
  /** The second home, which begins without a store. */
  readonly home: string
  /** What each of its services is told of the journal. */
  readonly env: Readonly<Record<string, string>>
  /** Of a service that waits on one of the homes. */
  environmentOf(home: string, port: number): Record<string, string>
  /** A service that waits on one of the homes, or takes over. */
  startStandby(
    home: string,
    entry?: string,
    told?: Readonly<Record<string, string>>,
  ): Promise<StartedStandby>
  stop(): Promise<void>
}

export interface StartedStandby {
  readonly url: string
  /** Once it has taken over. */
  readonly child: Promise<Child>
}

/** @param isLinked each node passes on to the owner what it is asked */
export async function startStandbyPair(wallets: number, isLinked = false): Promise<StandbyPair> {
  const server = await createPostgres()
  const directory = mkdtempSync(join(tmpdir(), 'cs-standby-'))
  const file = join(directory, 'journal.json')
  writeFileSync(file, JSON.stringify({ postgres: [server.url] }), { mode: 0o600 })
  const env = { COUNTERSIGN_JOURNAL_FILE: file, COUNTERSIGN_WORKERS: '2' }
  const [first, second] = isLinked ? await linksIn(directory) : [{}, {}]
  const stack = await startSinkStack({ wallets, env: { ...env, ...first } })
  const home = join(directory, 'home')
  await stack.restartService(async () => {
    for (const part of ['service', 'registry.json', 'chains.json']) {
      cpSync(join(stack.home, part), join(home, part), { recursive: true })
    }
    rmSync(join(home, 'service', 'store'), { recursive: true })
    symlinkSync(join(stack.home, 'run'), join(home, 'run'))
  })
  const started: Promise<Child>[] = []
  const ended = new AbortController()
  const environmentOf = (at: string, port: number): Record<string, string> => ({
    ...env,
    ...(at === stack.home ? first : second),
    ...{ COUNTERSIGN_JOURNAL_ROLE: 'standby', PORT: String(port), COUNTERSIGN_HOME: at },
    COUNTERSIGN_RATE_PER_SECOND: '1000000',
    IDENTITY_ISSUER: issuerOf(stack.home),
  })
  return {
    ...{ server, stack, home, env, environmentOf },
    async startStandby(at, entry = 'dist/src/main.js', told = {}) {
      const port = await freePort()
      const child = startChild(entry, { ...environmentOf(at, port), ...told }, ended.signal)
      // Whether it comes to that is what is tested.
      child.catch(() => undefined)
      started.push(child)
      return { url: `http://127.0.0.1:${port}`, child }
    },
    async stop() {
      ended.abort()
      for (const child of await Promise.allSettled(started)) {
        if (child.status === 'fulfilled') await child.value.kill()
      }
      await stack.stop()
      await server.remove()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Of two nodes on this machine. */
export async function linksIn(directory: string) {
  const [first, second] = await linksOf(directory, 2)
  return [first ?? {}, second ?? {}] as const
}

/** Of some nodes on this machine: what each service is told. */
export async function linksOf(
  directory: string,
  count: number,
): Promise<Readonly<Record<string, string>>[]> {
  const authority = makeAuthority(directory, 'nodes')
  const link = async (name: string) => {
    const names = { usage: 'serverAuth,clientAuth', names: 'IP:127.0.0.1' } as const
    const listen = `127.0.0.1:${await freePort()}`
    const path = join(directory, `${name}.json`)
    const pems = { ...authority.issue(name, names), authority: authority.certificate }
    writeFileSync(path, JSON.stringify({ listen, ...pems }), { mode: 0o600 })
    return { COUNTERSIGN_NODE_LINK_FILE: path }
  }
  const links: Record<string, string>[] = []
  for (let number = 1; number <= count; number++) links.push(await link(`node-${number}`))
  return links
}

/** What a service, or one that waits, says of its journal; empty where it does not answer. */
export async function journalPart(url: string): Promise<Part> {
  const { http, parts } = await readiness(url)
  return { http, ...parts?.journal }
}

/** What one that waits, and has the owner answer, says of itself; of another one as `journalPart`. */
export async function nodePart(url: string): Promise<Part> {
  const { http, parts } = await readiness(url)
  return { http, ...(parts?.node ?? parts?.journal) }
}

type Part = Readonly<Record<string, unknown>>

async function readiness(url: string): Promise<{ http?: number; parts?: Record<string, Part> }> {
  const answer = await fetch(`${url}/readyz`).catch(() => null)
  if (answer === null) return {}
  const { parts } = (await answer.json()) as { parts: Record<string, Part> }
  return { http: answer.status, parts }
}
