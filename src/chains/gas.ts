import { type ChainConfig, maxGasLimitOf } from '../config/chains.js'
import { decodeRevertReason } from '../contracts/revert-reason.js'
import { chainFacts } from '../domain/chains.js'
import { isErc20Transfer } from '../domain/erc20-transfer.js'
import { TX_GAS_CAP } from '../domain/gas-limits.js'
import { NO_SIDE_FEE, type SideFee } from '../domain/transaction-fee.js'
import type { AccountCode } from './account-code.js'
import { quantity, toQuantity } from './hex.js'
import type { ChainReads, TransactionCall } from './reads.js'
import { classifyCallError } from './rpc/classify.js'
import { RpcCallError, RpcShapeError } from './rpc/errors.js'
import type { RpcClient } from './rpc/types.js'
import { createSideFees } from './side-fees.js'

/**
 * The gas of a transaction and its worst-case cost. Gas differs between chains: OP-stack chains
 * charge other fees in addition (`side-fees.ts`), Arbitrum counts L1 data as gas.
 */
export interface GasPlanner {
  /**
   * The gas limit for a call. It answers at once for plain transfers to a recipient with cached
   * code and for configured tokens; otherwise it asks the chain.
   * @throws what `RpcClient.request` throws, other than errors of the call itself
   */
  gasLimitFor(call: TransactionCall): GasLimit | Promise<GasLimit>
  /**
   * What the OP stack charges in addition to gas; zero on other chains. At once when cached.
   * @param txBytes length of the unsigned serialised transaction
   */
  sideFee(txBytes: number): SideFee | Promise<SideFee>
}

export type GasLimit =
  | { readonly ok: true; readonly gas: bigint }
  | {
      readonly ok: false
      readonly cause: 'reverted' | 'insufficient-funds'
      /** The contract's error; printable and short. */
      readonly reason: string
    }

/** Yellow Paper, G_transaction: the exact gas of a transfer to an account without code. */
const PLAIN_TRANSFER: GasLimit = { ok: true, gas: 21_000n }
/**
 * Exact estimates ran out of gas intermittently (storage that changes in the meantime); × 1.3 did
 * not.
 */
const ESTIMATE_NUMERATOR = 13n
const ESTIMATE_DENOMINATOR = 10n
const BLOCK_LIMIT_MAX_AGE_MS = 60_000

export function createGasPlanner(
  rpc: RpcClient,
  reads: ChainReads,
  chain: ChainConfig,
  nowMs: () => number = () => performance.now(),
): GasPlanner {
  const { feeModel } = chainFacts(chain.id)
  const transferLimits = new Map<string, GasLimit>()
  if (feeModel !== 'arbitrum') {
    for (const { address, transfer_gas_limit: limit } of chain.tokens) {
      if (limit !== null)
        transferLimits.set(address.toLowerCase(), { ok: true, gas: BigInt(limit) })
    }
  }
  const chainCap = gasCapOf(chain)
  let knownCap = { gas: chainCap, atMs: Number.NEGATIVE_INFINITY }
  const sideFees = createSideFees(rpc, nowMs)

  async function gasCap(): Promise<bigint> {
    if (nowMs() - knownCap.atMs < BLOCK_LIMIT_MAX_AGE_MS) return knownCap.gas
    const block = await reads.block('latest')
    if (block === null) throw new RpcShapeError('no latest block')
    const capped = block.gasLimit > chainCap
    knownCap = { gas: capped ? chainCap : block.gasLimit, atMs: nowMs() }
    return knownCap.gas
  }

  async function estimated(call: TransactionCall): Promise<GasLimit> {
    const { from, to, data, value } = call
    const [cap, answer] = await Promise.all([
      gasCap(),
      rpc
        .request<unknown>('eth_estimateGas', [{ from, to, data, value: toQuantity(value) }])
        .then(quantity, refusal),
    ])
    if (typeof answer !== 'bigint') return answer
    const gas = (answer * ESTIMATE_NUMERATOR) / ESTIMATE_DENOMINATOR
    return { ok: true, gas: gas < cap ? gas : cap }
  }

  function byCode(call: TransactionCall, code: AccountCode): GasLimit | Promise<GasLimit> {
    return code.kind === 'none' ? PLAIN_TRANSFER : estimated(call)
  }

  return {
    gasLimitFor(call) {
      if (call.data === '0x' && feeModel !== 'arbitrum') {
        const cached = reads.cachedCode(call.to)
        if (cached !== null) return byCode(call, cached)
        return reads.code(call.to).then((code) => byCode(call, code))
      }
      if (call.value === 0n && isErc20Transfer(call.data)) {
        const limit = transferLimits.get(call.to.toLowerCase())
        if (limit !== undefined) return limit
      }
      return estimated(call)
    },
    sideFee: (txBytes) => (feeModel === 'op-stack' ? sideFees.of(txBytes) : NO_SIDE_FEE),
  }
}

/** The highest gas limit that a transaction may have there, whatever the block has room for. */
export function gasCapOf(chain: ChainConfig): bigint {
  const pinned = maxGasLimitOf(chain)
  const capped = chainFacts(chain.id).feeModel !== 'arbitrum' && pinned > TX_GAS_CAP
  return capped ? TX_GAS_CAP : pinned
}

function refusal(error: unknown): GasLimit {
  if (!(error instanceof RpcCallError)) throw error
  const cause = classifyCallError(error.code, error.message)
  if (cause === 'refused') throw error
  const reason = decodeRevertReason(error.data)
  return { ok: false, cause: cause === 'halted' ? 'reverted' : cause, reason }
}
