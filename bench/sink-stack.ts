import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { mintConsoleToken } from '../scripts/dev/mint-console-token.js'
import { provisionDev } from '../src/custody-tools/provisioning/provision.js'
import { type Child, numberOf, startChild } from './child-process.js'
import { freePort } from './free-port.js'
import { type BenchKey, makeKeys } from './keys.js'
import { SINK_BLOCK_MS, SINK_CHAIN, sinkChainsFile } from './sink-chains.js'
import { makeDirectory } from './temporary.js'
import type { WriteTarget } from './write-path.js'

/** The three processes of the service over a chain sink, in a separate home. */
export interface SinkStack extends WriteTarget {
  readonly home: string
  readonly baseUrl: string
  readonly sinkPort: number
  readonly pids: Readonly<Record<'service' | 'identity' | 'quorum' | 'chain', number>>
  readonly keys: readonly BenchKey[]
  /** The owner of the keys. */
  readonly user: { readonly email: string; readonly password: string }
  /** Console token of that user; valid for an hour. */
  readonly consoleToken: string
  /** The last output of the service or its supervisor (`child-process.ts`). */
  serviceSaid(): string
  /**
   * Kills only the service, as a power cut would, and restarts it.
   * @param whileDown has the store to itself in that time
   * @returns milliseconds from its start until it was ready
   */
  restartService(whileDown?: () => Promise<void>): Promise<number>
  /**
   * Makes its supervisor hand the service over to a new one.
   * @returns milliseconds until that one was ready
   */
  replaceService(): Promise<number>
  stop(): Promise<void>
}

const REPLACED_MS_MAX = 120_000
const POLL_MS = 20

const USER = { email: 'bench@example.test', password: 'correct horse battery staple' }

export interface SinkStackOptions {
  readonly wallets: number
  /**
   * Entry of the service: with the supervisor it can be handed over; by default it is started
   * directly.
   */
  readonly service?: 'dist/src/main.js' | 'dist/src/supervisor/main.js'
  /** Policy of the keys, in its wire form; absent for none. */
  readonly policy?: object
  /** Environment of the service, besides its defaults. */
  readonly env?: Readonly<Record<string, string>>
  /** Environment of the identity provider, besides its defaults. */
  readonly identityEnv?: Readonly<Record<string, string>>
  /** Port of the service; by default a free one. */
  readonly port?: number
}

/** @throws Error if a process does not become ready; nothing is left running */
export async function startSinkStack(options: SinkStackOptions): Promise<SinkStack> {
  const directory = makeDirectory()
  const home = directory.path
  const children: Child[] = []
  const start = async (entry: string, env: Record<string, string>): Promise<Child> => {
    const child = await startChild(entry, { COUNTERSIGN_HOME: home, ...env })
    children.push(child)
    return child
  }
  const stop = async (): Promise<void> => {
    for (const child of children.toReversed()) await child.stop()
    directory.remove()
  }
  try {
    const sink = await startChainSink()
    children.push(sink)
    const sinkPort = numberOf(sink, 'port')
    const chains = sinkChainsFile(`http://127.0.0.1:${sinkPort}`)
    writeFileSync(join(home, 'chains.json'), JSON.stringify(chains))
    writeFileSync(join(home, 'dev-user.json'), JSON.stringify(USER), { mode: 0o600 })
    await provisionDev(home)
    const quorum = await start('dist/src/quorum-signer/main.js', {})
    const port = options.port ?? (await freePort())
    const identity = await start('dist/src/identity-provider/main.js', {
      IDENTITY_PORT: '0',
      // Set explicitly, so that the console is asked for consent once and not with every load.
      CONSOLE_REDIRECT_URIS: `http://127.0.0.1:${port}/console/callback`,
      ...options.identityEnv,
    })
    const issuer = issuerOf(home)
    const serviceEnv = {
      PORT: String(port),
      IDENTITY_ISSUER: issuer,
      // The write path is measured, not the limiter in front of it.
      COUNTERSIGN_RATE_PER_SECOND: '1000000',
      ...options.env,
    }
    const entry = options.service ?? 'dist/src/main.js'
    let service = await start(entry, serviceEnv)
    const baseUrl = `http://127.0.0.1:${port}`
    const token = await mintConsoleToken({ issuer, ...USER })
    const keys = await makeKeys(baseUrl, token, options.wallets, options.policy)
    return {
      label: 'sink',
      home,
      baseUrl,
      port,
      sinkPort,
      chainId: SINK_CHAIN,
      keys,
      user: USER,
      consoleToken: token,
      secrets: keys.map(({ secret }) => secret),
      get pids() {
        return { service: service.pid, identity: identity.pid, quorum: quorum.pid, chain: sink.pid }
      },
      serviceSaid: () => service.said(),
      async restartService(whileDown) {
        await service.kill()
        children.splice(children.indexOf(service), 1)
        await whileDown?.()
        const startedAt = performance.now()
        service = await start(entry, serviceEnv)
        return performance.now() - startedAt
      },
      async replaceService() {
        const startedAt = performance.now()
        const before = holderOf(home)
        process.kill(service.pid, 'SIGHUP')
        while (holderOf(home) === before || !(await isReady(baseUrl))) {
          if (performance.now() - startedAt > REPLACED_MS_MAX) throw new Error('not replaced')
          await delay(POLL_MS)
        }
        return performance.now() - startedAt
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The holder of the home's lock; empty during a handover. */
function holderOf(home: string): string {
  return readFileSync(join(home, 'service', 'service.lock'), 'utf8')
}

async function isReady(baseUrl: string): Promise<boolean> {
  const answer = await fetch(`${baseUrl}/readyz`).catch(() => null)
  return answer?.status === 200
}

/** The sink in a separate process; its ready message has the `port`. */
export function startChainSink(): Promise<Child> {
  const env = { SINK_CHAIN_ID: String(SINK_CHAIN), SINK_BLOCK_MS: String(SINK_BLOCK_MS) }
  return startChild('dist/bench/chain-sink.js', env)
}

export function issuerOf(home: string): string {
  const file = readFileSync(join(home, 'identity-provider', 'issuer.json'), 'utf8')
  return (JSON.parse(file) as { issuer: string }).issuer
}
