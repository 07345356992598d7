import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makeNodeHome } from '../../../src/cli/operator/make-node-home.js'
import { positionIn } from '../../../src/identity-provider/journal/stores.js'
import type { BegunInstance } from '../begin-instance.js'
import { claimPort } from '../free-port.js'
import { type DevHome, devHome, PRIVATE_DIR_MODE } from '../home/layout.js'
import { identityProvider } from '../services.js'
import type { SupervisedProcess } from '../supervision/supervised-process.js'
import type { IdentityStart, Surroundings } from '../surroundings.js'
import { startIdentityEngine } from './journal-engine.js'
import { BACKOFF } from './node.js'
import { giveRegistry, isMade } from './node-home.js'
import { makeIdentityLinks } from './node-links.js'

/** An identity provider and its standby, with a journal of their own, on this machine. */
export interface IdentityPair {
  /** What the first is started with, besides what every identity provider is. */
  readonly first: IdentityStart
  readonly journalFile: string
  /** Of each wallet service. */
  readonly serviceEnv: Readonly<Record<string, string>>
  /** Once the first has begun its journal: makes the second one's home, and has it wait. */
  startSecond(around: Surroundings): Promise<SupervisedProcess>
}

const POLL_MS = 200
/** Behind those of the nodes' links. */
const PORTS_AFTER = 200

/**
 * Starts the engine of its journal.
 * @returns null where this machine lacks Postgres or openssl: there is one identity provider then
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

  function start(number: 1 | 2): IdentityStart & { readonly metricsPort: Promise<number> } {
    // Whoever started this may have said where the first is asked.
    const told = number === 1 ? Number(process.env.IDENTITY_METRICS_PORT) : 0
    const metricsPort = told > 0 ? Promise.resolve(told) : claim()
    let at = 0
    void metricsPort.then((claimed) => {
      at = claimed
    })
    return {
      metricsPort,
      env: () => ({
        IDENTITY_JOURNAL_FILE: journalFile,
        // While there is no other home, nobody else could have it.
        IDENTITY_JOURNAL_ROLE: number === 2 || isMade(second) ? 'standby' : 'owner',
        IDENTITY_LINK_FILE: links?.listeners[number - 1] ?? '',
        IDENTITY_METRICS_PORT: String(at),
      }),
      // One that waits is up, and says that it is ready only once it owns the journal.
      awaitReady: async (signal) =>
        answers(`http://127.0.0.1:${await metricsPort}/metrics`, signal),
      node: { number, backoff: BACKOFF },
    }
  }
  const first = start(1)
  await first.metricsPort
  return {
    ...{ first, journalFile },
    serviceEnv: { COUNTERSIGN_IDENTITY_LINK_FILE: links.service },
    async startSecond({ identity, issuer }) {
      // Whoever wants to sign in, or to copy the home, needs one that owns the journal.
      await answers(`${issuer}/.well-known/openid-configuration`, new AbortController().signal)
      if (!hasSecond) await makeNodeHome(home.root, 'user', second.root)
      for (const directory of [second.run, second.logs]) {
        mkdirSync(directory, { recursive: true, mode: PRIVATE_DIR_MODE })
      }
      giveRegistry(home, second)
      const standby = start(2)
      await standby.metricsPort
      const { env, awaitReady, node } = standby
      const options = {
        ...{ home: second, observer, env: () => ({ ...identity.env, ...env() }) },
        ...(node === undefined ? {} : { node }),
      }
      return run(identityProvider(options, awaitReady))
    },
  }
}

const NOT_HERE =
  'the identity provider of this home has a journal in Postgres, and this machine has no Postgres or no openssl: install both, or begin anew in another COUNTERSIGN_HOME'

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
