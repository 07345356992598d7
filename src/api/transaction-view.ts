import type { Hex } from '../domain/ids.js'
import { isoTime } from '../domain/iso-time.js'
import { formatUsd } from '../domain/money.js'
import { isSponsored } from '../domain/sponsorship.js'
import {
  type AskedApproval,
  currentHash,
  NO_NONCE,
  type Transaction,
} from '../domain/transaction.js'
import { toChecksumAddress } from './parse-address.js'
import type { TransactionView } from './transaction.js'

/**
 * The wire form of a transaction.
 * @param headNumber newest block of its chain, for the confirmations; null if unknown
 */
export function transactionView(tx: Transaction, headNumber: number | null): TransactionView {
  const view = {
    tx_id: tx.txId,
    tx_hash: shownHash(tx),
    chain_id: tx.call.chainId,
    from: tx.from,
    to: tx.call.to,
    value: tx.call.value.toString(),
    data: tx.call.data,
    nonce: shownNonce(tx),
    status: tx.status,
    kind: tx.kind,
    spend_usd: formatUsd(tx.spentMicros),
    fee_native_wei: feePaid(tx),
    block_number: tx.mined === null ? null : tx.mined.blockNumber,
    confirmations: confirmations(tx, headNumber),
    error: tx.error,
    replaced_hashes: replacedHashes(tx),
    key_id: tx.keyId,
    created_at: isoTime(tx.createdAtMs),
    updated_at: isoTime(tx.updatedAtMs),
    confirmed_at: tx.confirmedAtMs === null ? null : isoTime(tx.confirmedAtMs),
  }
  const asked = tx.approval === undefined ? view : { ...view, approval: approvalView(tx.approval) }
  return isSponsored(tx.kind) ? { ...asked, ...executedFields(tx) } : asked
}

/** Null for a transaction that waits for approval, or ended without it. */
function shownHash(tx: Transaction): Hex | null {
  return tx.attempts.length === 0 && tx.mined === null ? null : currentHash(tx)
}

function shownNonce({ nonce }: Transaction): number | null {
  return nonce === NO_NONCE ? null : nonce
}

export function approvalView(asked: AskedApproval) {
  const { approvalId, url, rule, needed, expiresAtMs, runsAtMs } = asked
  return {
    ...{ approval_id: approvalId, url, rule, needed },
    expires_at: isoTime(expiresAtMs),
    runs_at: runsAtMs === null ? null : isoTime(runsAtMs),
  }
}

/** What a sponsored call did; null until it is in a block, and if it did nothing. */
export function executedFields({ mined, call: { to } }: Transaction) {
  const executed = mined?.executed
  // A contract called during the execution could emit the same event.
  if (executed === undefined || executed.router !== to.toLowerCase()) return NOT_EXECUTED
  const tokenIn = toChecksumAddress(executed.tokenIn)
  return {
    fee_token: tokenIn,
    fee_amount: executed.fee.toString(),
    token_in: tokenIn,
    amount_in: executed.amountIn.toString(),
    token_out: toChecksumAddress(executed.tokenOut),
    amount_out: executed.amountOut.toString(),
  }
}

const NOT_EXECUTED = {
  fee_token: null,
  fee_amount: null,
  token_in: null,
  amount_in: null,
  token_out: null,
  amount_out: null,
}

export function replacedHashes(tx: Transaction): Hex[] {
  const hash = shownHash(tx)
  return tx.attempts.map(({ txHash }) => txHash).filter((other) => other !== hash)
}

/**
 * Spec silent: the fee that the sub-wallet paid, which is nothing if the service sponsored the gas.
 */
export function feePaid({ mined, kind }: Transaction): string | null {
  if (mined === null) return null
  return isSponsored(kind) ? '0' : mined.feeWei.toString()
}

/** Its own block counts as the first. */
export function confirmations(
  { mined }: Pick<Transaction, 'mined'>,
  headNumber: number | null,
): number {
  if (mined === null) return 0
  return Math.max(1, (headNumber ?? mined.blockNumber) - mined.blockNumber + 1)
}
