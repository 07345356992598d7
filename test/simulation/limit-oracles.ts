import { approvalIdOf } from '../../src/domain/approval.js'
import { utcDay, utcMonth } from '../../src/domain/spend.js'
import type { Transaction } from '../../src/domain/transaction.js'
import type { Ceiling, Rule } from '../../src/policy/policy.js'
import type { Callers } from './callers.js'
import type { ChainWorlds } from './chain-world.js'
import type { KnownLineage } from './known-keys.js'
import { isFiller, landings } from './landed.js'
import type { Clocks } from './parted.js'
import type { Quorum } from './quorum.js'

/**
 * What policies and people said against what landed: rules are read here once more, as far as owners
 * of the simulation write them.
 */
export function whatWasLimited(
  all: readonly Transaction[],
  callers: Callers,
  quorum: Quorum,
  chains: ChainWorlds,
  { apartMs, latestMs }: Clocks,
): string[] {
  const called = all.filter((tx) => !isFiller(tx))
  const askedAtMs = new Map(callers.wanted.flatMap(({ txIds }) => [...txIds]))
  return [
    ...called.flatMap((tx) =>
      windowAsAsked(tx, askedAtMs.get(tx.txId), apartMs, latestMs(tx.updatedAtMs)),
    ),
    ...called.flatMap((tx) => landedAsDecided(tx, callers, quorum, chains)),
    ...[...callers.known.lineages.values()].flatMap((lineage) => {
      const { policy } = lineage
      if (policy === null) return []
      const own = called.filter((tx) => callers.known.countsOn(tx.lineageId, lineage.lineageId))
      return [
        ...policy.rules.flatMap((rule) => overCount(rule, own, lineage)),
        ...policy.ceilings.flatMap((ceiling) => overCeiling(ceiling, own, lineage, chains)),
      ]
    }),
  ]
}

/** It counts in a day that it was asked for or decided in. */
function windowAsAsked(
  { txId, reservation }: Transaction,
  askedAtMs: number | undefined,
  apartMs: number,
  untilMs: number,
): string[] {
  if (askedAtMs === undefined) return []
  const { day, month } = reservation
  const fromMs = askedAtMs - apartMs
  const isIn = day >= utcDay(fromMs) && day <= utcDay(untilMs)
  const isInMonth = month >= utcMonth(fromMs) && month <= utcMonth(untilMs)
  return isIn && isInMonth ? [] : [`${txId} counts in day ${day} of month ${month}`]
}

/** Nothing lands that too few people approved, or that somebody was told is stopped. */
function landedAsDecided(
  tx: Transaction,
  { known, owner }: Callers,
  { approvals }: Quorum,
  chains: ChainWorlds,
): string[] {
  const { txId, kind, status } = tx
  const hasLanded =
    kind === 'send'
      ? landings(tx, chains).some(({ tx: on }) => on.to !== on.from)
      : status === 'confirmed'
  const wrong: string[] = []
  if (owner.stopped.has(txId) && (hasLanded || (status !== 'declined' && status !== 'withdrawn'))) {
    wrong.push(`${txId} was stopped, and is ${status}`)
  }
  if (!hasLanded) return wrong
  const rules = known.pathOf(tx.lineageId).flatMap(({ policy }) => policy?.rules ?? [])
  const needed = Math.max(0, ...rules.map((rule) => (isAskedBy(rule, tx) ? neededBy(rule) : 0)))
  const people = approvals.rowOf(approvalIdOf(txId))?.approvals.length ?? 0
  if (people < needed) wrong.push(`${txId} landed, approved by ${people} of ${needed}`)
  return wrong
}

function isAskedBy({ effect, when }: Rule, { kind, call }: Transaction): boolean {
  if (effect !== 'require_approval') return false
  const { valueNativeGt, operations } = when
  if (operations !== undefined) return operations.includes(kind)
  return valueNativeGt !== undefined && kind === 'send' && call.value > valueNativeGt
}

function neededBy({ approvals }: Rule): number {
  return approvals?.needed ?? 1
}

/** In no window of time there were more, or for more, than the rule lets through. */
function overCount(
  { name, effect, when: { count, sumUsd } }: Rule,
  own: readonly Transaction[],
  { lineageId }: KnownLineage,
): string[] {
  if (effect !== 'deny') return []
  // Those that waited count from a moment that no record tells.
  const decided = own.filter(({ approval }) => approval === undefined)
  const perSeconds = count?.perSeconds ?? sumUsd?.perSeconds ?? 0
  for (const { createdAtMs: untilMs } of decided) {
    const sinceMs = untilMs - perSeconds * 1_000
    const within = decided.filter((tx) => tx.createdAtMs > sinceMs && tx.createdAtMs <= untilMs)
    const micros = within.reduce(
      (sum, { valuation: { valueMicros, gasMicros } }) => sum + valueMicros + gasMicros,
      0n,
    )
    const isOver =
      (count !== undefined && within.length > count.gt) ||
      (sumUsd !== undefined && micros > sumUsd.gt)
    if (isOver) return [`${within.length} calls for ${micros} of ${lineageId} pass "${name}"`]
  }
  return []
}

function overCeiling(
  { per, amount, chainId }: Ceiling,
  own: readonly Transaction[],
  { lineageId }: KnownLineage,
  chains: ChainWorlds,
): string[] {
  const used = new Map<number, bigint>()
  for (const tx of own) {
    const hasMoved = landings(tx, chains).some(
      ({ isSuccess, tx: on }) => isSuccess && on.to !== on.from,
    )
    if (tx.call.chainId !== chainId) continue
    if (tx.kind !== 'send' || tx.approval !== undefined || !hasMoved) continue
    const window = per === 'day' ? utcDay(tx.createdAtMs) : utcMonth(tx.createdAtMs)
    used.set(window, (used.get(window) ?? 0n) + tx.call.value)
  }
  return [...used.values()]
    .filter((units) => units > amount)
    .map((units) => `${units} wei of ${lineageId} in a ${per}, the ceiling is ${amount}`)
}
