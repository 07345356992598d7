import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { makeNodeHome } from '../../../src/cli/operator/make-node-home.js'
import { positionIn } from '../../../src/identity-provider/journal/stores.js'
import type { BegunInstance } from '../begin-instance.js'
import { claimPort } from '../free-port.js'
import { type DevHome, devHome, PRIVATE_DIR_MODE } from '../home/layout.js'
import { identityProvider } from '../services.js'
import { type SupervisedProcess, superviseProcess } from '../supervision/supervised-process.js'
import type { IdentityStart, Surroundings } from '../surroundings.js'
import { startIdentityEngine } from './journal-engine.js'
import { BACKOFF } from './node.js'
import { giveRegistry, isMade } from './node-home.js'
import { makeIdentityLinks } from './node-links.js'

/**
 * An identity provider and its standby, with a journal of their own, on this machine. Each listens on a port of
 * its own, so that one that stands still holds no port that the other needs.
 */
export interface IdentityPair {
  /** The first one's settings in addition to the usual ones. */
  readonly first: IdentityStart
  readonly journalFile: string
  /** Of the first and the second: only the one that leads answers there. */
  readonly baseUrls: readonly [string, string]
  /** Settings for each wallet service. */
  readonly serviceEnv: Readonly<Record<string, string>>
  /**
   * Makes the second one's home once the first has begun its journal, and starts it as a standby.
   */
  startSecond(around: Surroundings): Promise<SupervisedProcess>
}

const POLL_MS = 200
const FRONT_MS_MAX = 30_000
/** Above the ports of the nodes' links. */
const PORTS_AFTER = 200

/**
 * Starts the engine of its journal.
 * @returns null when this machine lacks Postgres or openssl: then there is one identity provider
 */
export async function prepareIdentityPair(begun: BegunInstance): Promise<IdentityPair | null> {
  const { home, port, claimedPorts, observer, run, say } = begun
  const claim = () => claimPort(port + PORTS_AFTER, claimedPorts)
  const links = makeIdentityLinks(home, [await claim(), await claim()])
  const journalFile = join(home.root, 'identity-journal.json')
  if (links === null || !(await startIdentityEngine(begun, journalFile))) {
    if ((await positionIn(home.root)) !== null) throw new Error(NOT_HERE)
    say('without Postgres and openssl the identity provider has no standby')
    return null
  }
  const second = secondHome(home)
  const hasSecond = isMade(second)

  const ports = [await claim(), await claim()] as const

  async function start(number: 1 | 2): Promise<IdentityStart> {
    // The environment of this command may say where the first one's metrics are.
    const told = number === 1 ? Number(process.env.IDENTITY_METRICS_PORT) : 0
    const metricsPort = told > 0 ? told : await claim()
    return {
      env: () => ({
        IDENTITY_PORT: String(ports[number - 1]),
        IDENTITY_JOURNAL_FILE: journalFile,
        // While there is no other home, no other node could lead.
        IDENTITY_JOURNAL_ROLE: number === 2 || isMade(second) ? 'standby' : 'owner',
        IDENTITY_LINK_FILE: links?.listeners[number - 1] ?? '',
        IDENTITY_METRICS_PORT: String(metricsPort),
      }),
      layFront: (port) => run(loginFront(begun, port, ports)),
      // A standby is up, but reports ready only once it leads.
      awaitReady: (signal) => answers(`http://127.0.0.1:${metricsPort}/metrics`, signal),
      node: { number, backoff: BACKOFF },
    }
  }
  const first = await start(1)
  return {
    ...{ first, journalFile },
    baseUrls: [`http://127.0.0.1:${ports[0]}`, `http://127.0.0.1:${ports[1]}`],
    serviceEnv: { COUNTERSIGN_IDENTITY_LINK_FILE: links.service },
    async startSecond({ identity, issuer }) {
      // A sign-in, or a copy of the home, needs the leader.
      await answers(`${issuer}/.well-known/openid-configuration`, new AbortController().signal)
      if (!hasSecond) await makeNodeHome(home.root, 'user', second.root)
      for (const directory of [second.run, second.logs]) {
        mkdirSync(directory, { recursive: true, mode: PRIVATE_DIR_MODE })
      }
      giveRegistry(home, second)
      const { env, awaitReady, node } = await start(2)
      const options = {
        ...{ home: second, observer, env: () => ({ ...identity.env, ...env() }) },
        ...(node === undefined ? {} : { node }),
      }
      return run(identityProvider(options, awaitReady))
    },
  }
}

const NOT_HERE =
  'the identity provider of this home has a journal in Postgres, and this machine has no Postgres or no openssl: install both, or start over in another COUNTERSIGN_HOME'

/** @param ports of the two identity providers */
function loginFront(
  { home, observer }: BegunInstance,
  port: number,
  ports: readonly [number, number],
): SupervisedProcess {
  const entry = fileURLToPath(new URL('./login-front.js', import.meta.url))
  return superviseProcess(
    {
      name: 'login front',
      channel: 'ipc',
      readyTimeoutMs: FRONT_MS_MAX,
      stopTimeoutMs: FRONT_MS_MAX,
      logPath: join(home.logs, 'login-front.log'),
      launch: async () => ({
        command: process.execPath,
        args: ['--enable-source-maps', entry, ...[port, ...ports].map(String)],
        env: process.env,
      }),
    },
    observer,
  )
}

function secondHome(home: DevHome): DevHome {
  const own = devHome({ COUNTERSIGN_HOME: join(home.root, 'nodes', 'identity-2') })
  return { ...own, logs: join(home.logs, 'identity-2') }
}

async function answers(url: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const answer = await fetch(url).catch(() => null)
    if (answer?.ok === true) return
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined)
  }
}
