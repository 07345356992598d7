import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { BegunInstance } from '../begin-instance.js'
import type { DevHome } from '../home/layout.js'
import { quorumSigner, walletService } from '../services.js'
import type { Backoff } from '../supervision/backoff.js'
import type { SupervisedProcess } from '../supervision/supervised-process.js'

/** A wallet service and its quorum signer, in a home of their own. */
export interface ClusterNode {
  /** From 1 on. */
  readonly number: number
  /** Whose users it has, from 0 on. */
  readonly cell: number
  readonly home: DevHome
  readonly url: string
  readonly service: SupervisedProcess
  readonly quorum: SupervisedProcess
}

export interface NodeStart {
  readonly number: number
  readonly cell: number
  readonly home: DevHome
  readonly port: number
  readonly issuer: string
  readonly journalFile: string
  /** Null: it answers as the owner alone. */
  readonly linkFile: string | null
  /** How it reaches the identity provider where that has a standby; empty: by its socket. */
  readonly identityEnv: Readonly<Record<string, string>>
  /** Asked at each start of its service. */
  readonly role: () => 'owner' | 'standby'
}

/** As systemd does with its units; a node that is back at once would be no other one's chance. */
export const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 10_000, provenAfterMs: 30_000 }
/** Several services share this machine; more of them answer no more. */
const WORKERS = '2'

const POLL_MS = 200
const LOOK_TIMEOUT_MS = 2_000
/** What a standby follows first is a few seconds of entries. */
const PASSED_ON_MS_MAX = 120_000

/** @param quorum of the first node, whose home has the one that runs already */
export function clusterNode(
  { observer }: BegunInstance,
  start: NodeStart,
  quorum?: SupervisedProcess,
): ClusterNode {
  const { number, cell, home, port, issuer, journalFile, linkFile, identityEnv, role } = start
  const node = { number, backoff: BACKOFF }
  const url = `http://127.0.0.1:${port}`
  const env = () => ({
    COUNTERSIGN_WORKERS: process.env.COUNTERSIGN_WORKERS ?? WORKERS,
    PORT: String(port),
    IDENTITY_ISSUER: issuer,
    COUNTERSIGN_JOURNAL_FILE: journalFile,
    COUNTERSIGN_JOURNAL_ROLE: role(),
    ...(linkFile === null ? {} : { COUNTERSIGN_NODE_LINK_FILE: linkFile }),
    ...identityEnv,
  })
  return {
    ...{ number, cell, home, url },
    service: walletService({ home, observer, env, node }, (signal) => lives(url, signal)),
    quorum: quorum ?? quorumSigner({ home, observer, env: () => ({}), node }),
  }
}

/** A standby lives as an owner does, and is ready only once it is one. */
async function lives(url: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const answer = await fetch(`${url}/healthz`, { signal: lookSignal() }).catch(() => null)
    if (answer?.ok === true) return
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined)
  }
}

const readyAnswer = z.object({
  parts: z.object({ journal: z.object({ epoch: z.number() }), node: z.object({}).optional() }),
})

/**
 * Resolves once a standby has the owner answer what it is asked.
 * @param standby asked for each look: it may be another one by then
 * @throws Error when none does within the time
 */
export async function untilPassedOn(standby: () => ClusterNode): Promise<void> {
  const deadlineMs = performance.now() + PASSED_ON_MS_MAX
  while ((await readyParts(standby().url))?.node === undefined) {
    if (performance.now() > deadlineMs) {
      throw new Error(`node ${standby().number} does not reach the owner: logs/ has what it said`)
    }
    await delay(POLL_MS)
  }
}

/** Of its taking, where it is ready and owns the journal itself; null where it does not. */
export async function epochOf(url: string): Promise<number | null> {
  const parts = await readyParts(url)
  return parts?.node === undefined ? (parts?.journal.epoch ?? null) : null
}

/** Null where it is not ready. */
async function readyParts(url: string) {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: lookSignal() })
    return answer.status === 200 ? readyAnswer.parse(await answer.json()).parts : null
  } catch {
    return null
  }
}

const lookSignal = () => AbortSignal.timeout(LOOK_TIMEOUT_MS)
