import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { serviceLayout, userSideLayout } from '../../src/custody/domain-keys/layout.js'
import { chainView } from '../e2e/chain.js'
import type { Stack } from '../e2e/stack.js'
import { auditApprovals } from './approval-audit.js'
import {
  BY_CLOCK_MS,
  CHAIN_ID,
  createWaiters,
  decide,
  ended,
  LIFE_KINDS,
  type Life,
  newLife,
  newOther,
  request,
  requested,
} from './approval-lives.js'
import { seededRandom } from './random.js'
import type { Random } from './service-agents.js'

/**
 * Lives of calls that wait for people, each cut at some step by the SIGKILL of a process. Several
 * live at once in wallets of their own, so that one kill meets each at another step.
 */
export interface ApprovalKillsOptions {
  readonly seed: number
  readonly lives: number
  readonly progress: (sentence: string) => void
}

export interface ApprovalKillsReport {
  readonly seed: number
  /** By kind and step, what they came to. */
  readonly lives: Readonly<Record<string, number>>
  readonly kills: Readonly<Record<string, number>>
  readonly elapsedMs: number
  readonly wrong: readonly string[]
}

const AT_ONCE_MAX = 8
/** The clock's kinds are the first life's alone: its whole round waits for its time. */
const BY_PEOPLE = LIFE_KINDS.filter((kind) => !(kind in BY_CLOCK_MS))
const OFTEN = [...BY_PEOPLE, 'approved', 'approved'] as const
const PARTS = [
  ['service'],
  ['identity_provider'],
  ['quorum_signer'],
  ['service', 'identity_provider'],
] as const
const MOMENTS = ['clock', 'service-log', 'user-log'] as const
/** What is under way by then is over. */
const MOMENT_MS_MAX = 400
/** Entries of a log between a decision and the signed bytes, with those of the other lives. */
const CHANGES_MAX = 8
/** A log that does not grow so often by then has its process killed anyway. */
const GROWTH_MS_MAX = 1_500
/** Before the clock ends or releases a call. */
const EARLY_MS_MAX = 300

/** Of a round, what the kill waits for once everything is begun: milliseconds, or entries of a log. */
interface Moment {
  readonly by: Kill['by']
  readonly after: number
}

export async function runApprovalKills(
  stack: Stack,
  { seed, lives, progress }: ApprovalKillsOptions,
): Promise<ApprovalKillsReport> {
  const startedAt = performance.now()
  const random = seededRandom(seed)
  const view = chainView(stack.service.dev(), CHAIN_ID)
  const fromBlock = Number(await view.call('eth_blockNumber', [])) + 1
  const waiters = await createWaiters(stack, Math.min(AT_ONCE_MAX, lives))
  const kills: Record<string, number> = {}
  const deal = createDeck(random)
  const wrong: string[] = []
  for (let lived = 0; lived < lives && wrong.length === 0; ) {
    const round = waiters.slice(0, lives - lived)
    lived += round.length
    const one = seededRandom(random.integer(2 ** 31))
    const kinds = lives > AT_ONCE_MAX ? LIFE_KINDS : BY_PEOPLE
    const begun = round.map((waiter, i) => newLife(waiter, one.pick(i === 0 ? kinds : OFTEN), one))
    const killed = await runRound(stack, begun, deal(), one, wrong)
    kills[killed] = (kills[killed] ?? 0) + 1
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    progress(`seed ${seed}: ${lived} of ${lives} lives, ${killed} killed, ${seconds} s`)
  }
  wrong.push(...(await auditApprovals(stack, waiters, view, fromBlock)))
  const counted: Record<string, number> = {}
  for (const { kind, step, status, recipient } of waiters.flatMap(({ lives: all }) => all)) {
    const name = `${recipient === null ? 'swap' : 'send'} ${kind}, killed at ${step}: ${status}`
    counted[name] = (counted[name] ?? 0) + 1
  }
  return { seed, lives: counted, kills, elapsedMs: performance.now() - startedAt, wrong }
}

interface Kill {
  readonly parts: (typeof PARTS)[number]
  readonly by: (typeof MOMENTS)[number]
}

/** Each part at each moment, before any comes again. */
function createDeck(random: Random): () => Kill {
  let cards: Kill[] = []
  return () => {
    if (cards.length === 0) cards = PARTS.flatMap((parts) => MOMENTS.map((by) => ({ parts, by })))
    const [card] = cards.splice(random.integer(cards.length), 1)
    if (card === undefined) throw new Error('no kill is left')
    return card
  }
}

/** @returns what was killed, and when */
async function runRound(
  stack: Stack,
  lives: readonly Life[],
  { parts, by }: Kill,
  random: Random,
  wrong: string[],
): Promise<string> {
  const moment: Moment = {
    by,
    after: 1 + random.integer(by === 'clock' ? MOMENT_MS_MAX : CHANGES_MAX),
  }
  const earlyMs = random.integer(EARLY_MS_MAX)
  const others = lives.map(({ waiter }) => ({ waiter, other: newOther(waiter, random) }))
  try {
    const begun = lives.filter(({ step }) => step !== 'request')
    await Promise.all(begun.map((life) => requested(life.waiter, life)))
    const clockMs = Math.max(...lives.map(({ kind }) => BY_CLOCK_MS[kind] ?? 0))
    if (clockMs > 0) await delay(clockMs - earlyMs)
    const come = comes(stack, moment)
    const under = lives.map((life) => {
      if (life.step === 'request') return request(life.waiter, life)
      return life.step === 'decide' ? decide(stack, life) : Promise.resolve()
    })
    await come
    await Promise.all(parts.map((part) => stack.service.killAndAwaitRestart(part)))
    // They want the nonces of what was being signed.
    await Promise.all(others.map(({ waiter, other }) => requested(waiter, other)))
    await Promise.all(under)
    await Promise.all(lives.map((life) => ended(stack, life)))
  } catch (error) {
    wrong.push(error instanceof Error ? error.message : String(error))
  }
  return `${parts.join(' and ')} by ${by}`
}

/** A log grows before what it proves is handed on: that is where a kill leaves the least behind. */
async function comes({ service }: Stack, moment: Moment): Promise<void> {
  if (moment.by === 'clock') {
    await delay(moment.after)
    return
  }
  const owner = service.nodes().find(({ isLeader: isOwner }) => isOwner)?.home ?? service.home
  const { evidence } =
    moment.by === 'user-log' ? userSideLayout(service.home) : serviceLayout(owner)
  const path = join(evidence, 'data.mdb')
  const changedAt = () => statSync(path, { bigint: true }).mtimeNs
  const deadlineMs = Date.now() + GROWTH_MS_MAX
  let last = changedAt()
  for (let changes = 0; changes < moment.after && Date.now() < deadlineMs; await turn()) {
    const now = changedAt()
    if (now !== last) changes++
    last = now
  }
}
