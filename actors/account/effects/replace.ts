import { bump, type Fees, offerCeiling } from '../../../src/chains/fees.js'
import { selfSendGasLimit } from '../../../src/domain/gas-limits.js'
import type { KeyId, SubWalletId } from '../../../src/domain/ids.js'
import type { AccountTransaction } from '../../../src/domain/transaction.js'
import type { RefusalCode } from '../../../src/quorum-protocol/refusal.js'
import type { SignedAuthorization } from '../../../src/quorum-protocol/sign-payload.js'
import type { SignOutcome } from '../../../src/service-custody/co-signer.js'
import type { AccountCommand, ReplacePurpose } from '../core/messages.js'
import type { AccountPorts } from '../ports.js'

export interface Replaced {
  readonly walletId: SubWalletId
  readonly tx: AccountTransaction
  readonly purpose: ReplacePurpose
  /** The highest maxFeePerGas, wei, that the caps leave room for; null means no limit. */
  readonly feeCapWei: bigint | null
  /** Null for the service's own wallets. */
  readonly keyId: KeyId | null
  readonly authorization: SignedAuthorization | null
}

/**
 * The most approvals without a known result here that are passed over, each with fees one step
 * higher. A lost answer leaves one of them; more pile up only while the quorum keeps failing
 * half-way.
 */
const LOST_APPROVALS_MAX = 8
/** The ledger of approvals has this call with higher fees. */
const OUTBID: RefusalCode = 'UNDERPRICED'

type Outbid = Extract<AccountCommand, { type: 'replacement-signed' | 'replacement-failed' }>

/**
 * Requests a signature of the same call at the same nonce with higher fees, or of a cancellation
 * there. It needs no live key.
 */
export function replace(
  ports: AccountPorts,
  replaced: Replaced,
  self: (command: Outbid) => void,
): void {
  const { txId } = replaced.tx
  higherBid(ports, replaced).then(
    (bid) => self(bid ?? { type: 'replacement-failed', txId }),
    (error: unknown) => {
      ports.log.warn({ err: error, txId }, 'a replacement could not be signed')
      self({ type: 'replacement-failed', txId })
    },
  )
}

async function higherBid(ports: AccountPorts, replaced: Replaced): Promise<Outbid | null> {
  const { tx } = replaced
  const chain = ports.chains.get(tx.call.chainId)
  const newest = tx.attempts.at(-1)
  if (newest === undefined || chain === undefined) return null
  // Only the thread of the chain's watcher always has the newest fees.
  const { fees: current } = chain.fees.latest() ?? (await chain.fees.quote())
  const highestWei = BigInt(chain.config.max_fee_per_gas_ceiling_wei)
  const { purpose, feeCapWei, keyId } = replaced
  const offerWei = purpose === 'cancel' ? highestWei : offerCeiling(highestWei)
  const ceilingWei = feeCapWei !== null && feeCapWei < offerWei ? feeCapWei : offerWei
  let replaces: Uint8Array = Buffer.from(newest.intentId.slice(2), 'hex')
  // The identity provider approves a replacement that moves nothing from a user's wallet one bump
  // at a time, whatever the market asks.
  const market = keyId !== null && movesNothing(replaced) ? newest : current
  let fees = bump(newest, market, ceilingWei)
  let ledgerDiffers = false
  for (let lost = 0; lost <= LOST_APPROVALS_MAX; lost++) {
    if (fees === null) return null
    const outcome = await signAt(ports, replaced, fees, replaces)
    if (outcome.ok) return signedCommand(replaced, fees, outcome, ports.timers.now())
    if (outcome.reason === 'NONCE_TAKEN' && outcome.takenBy !== undefined) {
      // The answer to an earlier approval was lost: the ledger requires the request to name it and
      // outbid it.
      replaces = outcome.takenBy
      ledgerDiffers = true
      continue
    }
    // A ceiling of the key's policy is in the way of a higher fee, and of no cancellation.
    if (outcome.denial !== undefined) return null
    if (!ledgerDiffers || outcome.reason !== 'REFUSED') return null
    if (outcome.detail !== OUTBID) return insteadOfCancellation(ports, replaced)
    fees = bump(fees, market, ceilingWei)
  }
  return null
}

/**
 * The ledger does not hold a bid for this call but a cancellation that a crash or a reorg made this
 * service forget. Without a key only another cancellation can replace it, and the lane would stop
 * for good.
 */
async function insteadOfCancellation(
  ports: AccountPorts,
  replaced: Replaced,
): Promise<Outbid | null> {
  if (replaced.purpose === 'cancel') return null
  return higherBid(ports, { ...replaced, purpose: 'cancel', feeCapWei: null })
}

function signAt(
  { coSigner, timers }: AccountPorts,
  { walletId, tx, purpose, keyId, authorization }: Replaced,
  fees: Fees,
  replaces: Uint8Array,
): Promise<SignOutcome> {
  const { nonce, gasLimit, call } = purpose === 'cancel' ? cancellationOf(tx) : tx
  return coSigner.sign({
    walletId,
    keyId,
    requestId: timers.random.bytes(16),
    proofKey: null,
    replaces,
    payload: {
      type: 'transaction',
      ...call,
      nonce,
      gasLimit,
      ...fees,
      ...(authorization === null || purpose === 'cancel'
        ? {}
        : { authorizationList: [authorization] }),
    },
  })
}

function movesNothing({ tx: { call, from }, purpose }: Replaced): boolean {
  const { to, value, data } = call
  const isSelf = to.toLowerCase() === from.toLowerCase()
  return purpose === 'cancel' || (isSelf && value === 0n && data === '0x')
}

function cancellationOf({ nonce, from, call }: AccountTransaction) {
  const { chainId } = call
  return {
    nonce,
    gasLimit: selfSendGasLimit(chainId),
    call: { chainId, to: from, value: 0n, data: '0x' },
  } as const
}

function signedCommand(
  { tx: { txId, nonce }, purpose }: Replaced,
  fees: Fees,
  outcome: Extract<SignOutcome, { ok: true }>,
  nowMs: number,
): Outbid | null {
  const { txHash, rawTransaction } = outcome
  if (txHash === undefined || rawTransaction === undefined) return null
  const intentId = `0x${Buffer.from(outcome.intentId).toString('hex')}` as const
  const signed = { txHash, rawTransaction, intentId, signedAtMs: nowMs }
  return { type: 'replacement-signed', txId, nonce, purpose, fees, signed, nowMs }
}
