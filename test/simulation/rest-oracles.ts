import { laneOf } from '../../actors/account/core/state.js'
import { loadGasWallet } from '../../actors/gas-wallet/record.js'
import { countersOf } from '../../actors/sub-wallet/core/state.js'
import { loadState } from '../../actors/sub-wallet/record.js'
import { keyStatus } from '../../src/domain/api-key.js'
import { chainOfGasWallet } from '../../src/domain/gas-wallets.js'
import type { Hex, TxId, UserId } from '../../src/domain/ids.js'
import { nonceOfRaw } from '../../src/domain/raw-nonce.js'
import { utcDay, utcMonth } from '../../src/domain/spend.js'
import { isSponsored } from '../../src/domain/sponsorship.js'
import { isFinal, type Transaction } from '../../src/domain/transaction.js'
import type { Reader } from '../../src/store/reader.js'
import type { Callers } from './callers.js'
import type { ChainWorld, ChainWorlds } from './chain-world.js'
import type { KnownKey, KnownLineage } from './known-keys.js'
import { effectsOf, isFiller, spentTogether, spentWithinCap } from './landed.js'
import { whatWasLimited } from './limit-oracles.js'
import { asTheWorldSaid } from './market-oracles.js'
import type { Markets } from './markets.js'
import type { Clocks } from './parted.js'
import type { Quorum } from './quorum.js'
import type { Receivers } from './receivers.js'
import type { Service } from './service.js'
import { lower } from './signatures.js'
import { toldAsRegistered } from './webhook-oracles.js'

/** What nobody in the service can bend. */
export interface World {
  readonly callers: Callers
  readonly chains: ChainWorlds
  readonly quorum: Quorum
  readonly markets: Markets
  readonly receivers: Receivers
  readonly clocks: Clocks
}

/** What must be so once nothing is under way: against the chain, which nobody here can bend. */
export function auditAtRest(service: Service, world: World, nowMs: number): string[] {
  const { reader } = service
  const { callers, chains, quorum, markets, clocks } = world
  const users = [...new Set(callers.wallets.map(({ userId }) => userId))]
  const all = withoutTwins(
    users.flatMap((id) => [...reader.transactions.ofUserOldestFirst(id, null)]),
  )
  return [
    ...all.flatMap((tx) => endedAsLanded(tx, reader, chains)),
    ...all.flatMap((tx) => mayStillLand(tx, reader, chains)),
    ...callers.wanted.flatMap((wanted) => landedOnce(wanted, reader, chains)),
    ...[...callers.known.lineages.values()].flatMap((lineage) =>
      spentAsCounted(lineage, all, world, reader, nowMs),
    ),
    ...callers.known.keys.flatMap((key) => endedWithItsMaker(key, callers, reader, nowMs)),
    ...quorum.wrongAtRest(),
    ...whatWasLimited(all, callers, quorum, chains, clocks),
    ...asTheWorldSaid(callers.wanted, all, markets, clocks),
    ...callers.wallets.flatMap(({ subWalletId, address }) => {
      const state = loadState(reader, subWalletId)
      return [...chains].flatMap(([id, world]) =>
        unlikeTheChain(subWalletId, laneOf(state, id).nextNonce, address, world),
      )
    }),
    ...[...reader.gas.wallets()].flatMap(({ gasWalletId, address }) => {
      const { account } = loadGasWallet(reader, gasWalletId, 0)
      const chainId = chainOfGasWallet(gasWalletId)
      const chain = chains.get(chainId)
      if (chain === undefined) return [`${gasWalletId} is of no chain`]
      return unlikeTheChain(gasWalletId, laneOf(account, chainId).nextNonce, address, chain)
    }),
    ...users.flatMap((userId) => gapsOf(reader, userId)),
    ...callers.endpoints.all.flatMap((known) =>
      toldAsRegistered(known, reader, world.receivers.receptions),
    ),
  ]
}

/**
 * A gap that is filled once more at the same fees is filled by the same bytes, which one that was
 * dropped then has in common with the one that landed: they land for that.
 * @param all oldest first
 */
function withoutTwins(all: readonly Transaction[]): Transaction[] {
  const latest = new Map<Hex, TxId>()
  for (const { txId, attempts } of all) {
    for (const { txHash } of attempts) latest.set(txHash, txId)
  }
  const hasTwin = ({ txId, attempts }: Transaction) =>
    attempts.some(({ txHash }) => latest.get(txHash) !== txId)
  return all.filter((tx) => !(isFiller(tx) && tx.status === 'dropped' && hasTwin(tx)))
}

/**
 * An authorization takes a nonce as well, and so does an outsider's call. Where a node that lagged said
 * that none had landed, or a reorg let it land before the nonce below it and so for nothing, or took it
 * back, the lane finds out at its next call.
 */
function unlikeTheChain(
  id: string,
  next: number | null,
  address: Hex,
  { chain, outsiders }: ChainWorld,
): string[] {
  const used = chain.head.state.nonces.get(lower(address)) ?? 0
  if (next === null || next === used) return []
  const account = lower(address)
  const { chainId, signatures } = chain.options
  const others = chain.authorizationsOf(account) + outsiders.countOf(account)
  const isBehind = next < used && used - next <= others
  const isOthers = (nonce: number) =>
    signatures.isAuthorizedAt(chainId, account, nonce) || outsiders.tookEver(account, nonce)
  let free = used
  while (free < next && isOthers(free)) free++
  const isAhead = next > used && free === next
  return isBehind || isAhead ? [] : [`${id} goes on at ${next}, used are ${used}`]
}

function endedAsLanded(tx: Transaction, reader: Reader, chains: ChainWorlds): string[] {
  const { txId, status } = tx
  if (!isFinal(status)) return [`${txId} is ${status} at rest`]
  const effects = effectsOf(tx, reader, chains)
  const landed = effects.filter(({ isSuccess }) => isSuccess).length
  const expected = status === 'confirmed' ? 1 : 0
  return landed === expected ? [] : [`${txId} is ${status}, and landed ${landed} times`]
}

/**
 * Signed bytes are dead once something else has used their nonce. Of a sponsored call they are its gas
 * wallet's.
 */
function mayStillLand(tx: Transaction, reader: Reader, chains: ChainWorlds): string[] {
  const signed = isSponsored(tx.kind) ? reader.gas.transaction(tx.txId)?.tx : tx
  const chain = chains.get(tx.call.chainId)?.chain
  if (signed === undefined || chain === undefined || !isFinal(tx.status)) return []
  const used = chain.head.state.nonces.get(lower(signed.from)) ?? 0
  return signed.attempts.flatMap(({ txHash, rawTransaction }) => {
    const nonce = nonceOfRaw(rawTransaction) ?? signed.nonce
    if (nonce < used || chain.landing(txHash) !== null) return []
    return [`${tx.txId} is ${tx.status}, and ${txHash} may still be mined at nonce ${nonce}`]
  })
}

function landedOnce(
  wanted: Callers['wanted'][number],
  reader: Reader,
  chains: ChainWorlds,
): string[] {
  const { key, txIds, acknowledged, refusedWith, unheard } = wanted
  const records = [...txIds.keys()].flatMap((txId) => reader.transactions.byId(txId) ?? [])
  const landed = records.filter((tx) =>
    effectsOf(tx, reader, chains).some(({ isSuccess }) => isSuccess),
  )
  const name = key ?? [...txIds.keys()].join(' ')
  const wrong: string[] = []
  if (landed.length > 1) wrong.push(`${name} landed ${landed.length} times`)
  if (acknowledged !== null && reader.transactions.byId(acknowledged) === undefined) {
    wrong.push(`${acknowledged} was acknowledged and is gone`)
  }
  if (unheard === 0 && acknowledged === null && refusedWith !== null && landed.length > 0) {
    wrong.push(`${name} was refused with ${refusedWith} and landed`)
  }
  return wrong
}

/** Events are counted without a gap, and each transaction is told to be out before it ended. */
function gapsOf(reader: Reader, userId: UserId): string[] {
  const wrong: string[] = []
  const out = new Set<TxId>()
  let last = 0
  for (const { seq, type, moment } of reader.events.ofUser(userId, 0, Number.MAX_SAFE_INTEGER)) {
    if (seq !== last + 1) wrong.push(`event ${seq} comes after ${last}`)
    last = seq
    if (moment === undefined) continue
    if (type === 'transaction.broadcast') out.add(moment.txId)
    const isMined = type === 'transaction.confirmed' || type === 'transaction.failed'
    if (isMined && !out.has(moment.txId)) wrong.push(`${type} of ${moment.txId}, never told out`)
  }
  return wrong
}

function endedWithItsMaker(
  known: KnownKey,
  callers: Callers,
  reader: Reader,
  nowMs: number,
): string[] {
  const key = reader.keys.byId(known.keyId)
  if (key === undefined) return [`${known.keyId} was answered and is gone`]
  const isLeft = callers.known.isRevoked(known) && keyStatus(key, nowMs) !== 'revoked'
  return isLeft ? [`${key.keyId} is alive, and was ended with what made it`] : []
}

/** Of itself and of all that its keys made, in the windows that were open when it was reserved. */
function spentAsCounted(
  { lineageId, subWalletId, capMicros }: KnownLineage,
  all: readonly Transaction[],
  { callers, chains, clocks }: World,
  reader: Reader,
  nowMs: number,
): string[] {
  const own = all.filter((tx) => callers.known.countsOn(tx.lineageId, lineageId))
  const wrong: string[] = []
  const state = loadState(reader, subWalletId)
  const { dayMicros, monthMicros, reservedMicros } = countersOf(state, lineageId, nowMs)
  if (reservedMicros !== 0n) wrong.push(`${reservedMicros} stays reserved for ${lineageId}`)
  const today = own.filter(({ reservation: { day } }) => day === utcDay(nowMs))
  const month = own.filter(({ reservation }) => reservation.month === utcMonth(nowMs))
  for (const [used, spent, of] of [
    [dayMicros, spentTogether(today, chains), 'of the day'],
    [monthMicros, spentTogether(month, chains), 'of the month'],
  ] as const) {
    const isMore = used > spent && clocks.mayCountMore
    if (used !== spent && !isMore)
      wrong.push(`${used} is used of ${lineageId}, ${spent} was spent ${of}`)
  }
  for (const day of new Set(own.map(({ reservation }) => reservation.day))) {
    const spent = own
      .filter((tx) => tx.reservation.day === day && !isFiller(tx))
      .reduce((sum, tx) => sum + spentWithinCap(tx, chains), 0n)
    if (spent > capMicros) {
      wrong.push(`${spent} was spent of ${lineageId} in a day, the cap is ${capMicros}`)
    }
  }
  return wrong
}
