import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { BegunInstance } from '../begin-instance.js'
import type { DevHome } from '../home/layout.js'
import { quorumSigner, walletService } from '../services.js'
import type { Backoff } from '../supervision/backoff.js'
import type { SupervisedProcess } from '../supervision/supervised-process.js'

/** A wallet service and its quorum signer, in their own home. */
export interface ClusterNode {
  /** Counts from 1. */
  readonly number: number
  /** The cell whose users it serves, counted from 0. */
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
  /** Null when it answers only as the leader. */
  readonly linkFile: string | null
  /** The link to an identity provider with a standby; empty for its socket. */
  readonly identityEnv: Readonly<Record<string, string>>
  /** Called at each start of its service. */
  readonly role: () => 'owner' | 'standby'
}

/** As for systemd's units: a node that restarts at once would leave no other one a chance. */
export const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 10_000, provenAfterMs: 30_000 }
/** Several services share this machine; more workers do not answer more. */
const WORKERS = '2'

const POLL_MS = 200
const PROBE_TIMEOUT_MS = 2_000
/** A standby first follows some seconds of entries. */
const PASSED_ON_MS_MAX = 120_000

/** @param quorum for the first node, whose home already has one */
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

/** Waits until a standby runs; it reports ready only once it leads. */
async function lives(url: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const answer = await fetch(`${url}/healthz`, { signal: probeSignal() }).catch(() => null)
    if (answer?.ok === true) return
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined)
  }
}

const readyAnswer = z.object({
  parts: z.object({ journal: z.object({ epoch: z.number() }), node: z.object({}).optional() }),
})

/**
 * Resolves once a standby forwards requests to the leader.
 * @param standby returns the standby at each poll, which may change
 * @throws Error when none does in time
 */
export async function untilPassedOn(standby: () => ClusterNode): Promise<void> {
  const deadlineMs = performance.now() + PASSED_ON_MS_MAX
  while ((await readyParts(standby().url))?.node === undefined) {
    if (performance.now() > deadlineMs) {
      throw new Error(`node ${standby().number} does not reach the leader: see its log in logs/`)
    }
    await delay(POLL_MS)
  }
}

/** Returns the epoch of a ready leader; null when the node is not one. */
export async function epochOf(url: string): Promise<number | null> {
  const parts = await readyParts(url)
  return parts?.node === undefined ? (parts?.journal.epoch ?? null) : null
}

/** Null when it is not ready. */
async function readyParts(url: string) {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: probeSignal() })
    return answer.status === 200 ? readyAnswer.parse(await answer.json()).parts : null
  } catch {
    return null
  }
}

const probeSignal = () => AbortSignal.timeout(PROBE_TIMEOUT_MS)
