import type { ChainConfig } from '../config/chains.js'
import { uintAt } from '../contracts/abi-words.js'
import { decodeRevertReason } from '../contracts/revert-reason.js'
import { isErc20Transfer } from '../contracts/selectors.js'
import { chainFacts } from '../domain/chains.js'
import type { Address, Hex } from '../domain/ids.js'
import type { AccountCode } from './account-code.js'
import { quantity, toQuantity } from './hex.js'
import type { ChainReads, TransactionCall } from './reads.js'
import { classifyCallError } from './rpc/classify.js'
import { RpcCallError, RpcShapeError } from './rpc/errors.js'
import type { RpcClient } from './rpc/types.js'

/**
 * How much gas a transaction gets and what it can cost at worst. Gas is not the same thing on
 * every chain: OP-stack chains charge an L1 data fee besides it, Arbitrum counts L1 data as gas.
 */
export interface GasPlanner {
  /**
   * Gas limit for a call. Answers at once for plain transfers whose recipient's code is cached
   * and for configured tokens; otherwise asks the chain.
   * @throws what `RpcClient.request` throws, other than errors of the call itself
   */
  gasLimitFor(call: TransactionCall): GasLimit | Promise<GasLimit>
  /**
   * Bound on the L1 data fee of a transaction, wei; 0 off the OP stack. At once when cached.
   * @param txBytes length of the unsigned serialised transaction
   */
  l1FeeUpperBoundWei(txBytes: number): bigint | Promise<bigint>
}

export type GasLimit =
  | { readonly ok: true; readonly gas: bigint }
  | {
      readonly ok: false
      readonly cause: 'reverted' | 'insufficient-funds'
      /** What the contract said; printable and short. */
      readonly reason: string
    }

/** Yellow paper, G_transaction: what a transfer to an account without code uses, exactly. */
const PLAIN_TRANSFER: GasLimit = { ok: true, gas: 21_000n }
/** EIP-7825: no transaction may ask for more; Arbitrum has a limit of its own kind. */
export const TX_GAS_CAP = 16_777_216n
/** Exact estimates ran out of gas intermittently (storage that changes meanwhile); × 1.3 did not. */
const ESTIMATE_NUMERATOR = 13n
const ESTIMATE_DENOMINATOR = 10n
const BLOCK_LIMIT_MAX_AGE_MS = 60_000

/** Predeploy of the OP stack (specs, "Predeploys"); `getL1FeeUpperBound` since Fjord. */
const GAS_PRICE_ORACLE: Address = '0x420000000000000000000000000000000000000F'
const GET_L1_FEE_UPPER_BOUND = '0xf1c7a58b'
/** Not bounded by maxFeePerGas and moving with Ethereum's base fee, up to 1/8 per 12 s. */
const L1_FEE_NUMERATOR = 3n
const L1_FEE_DENOMINATOR = 2n
const L1_FEE_MAX_AGE_MS = 12_000
/** Sizes are rounded up to these steps, so that the cache stays small and answers stay bounds. */
const L1_FEE_STEP_BYTES = 256

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
  let knownCap = { gas: TX_GAS_CAP, atMs: Number.NEGATIVE_INFINITY }
  const l1Fees = new Map<number, { wei: bigint; atMs: number }>()

  async function gasCap(): Promise<bigint> {
    if (nowMs() - knownCap.atMs < BLOCK_LIMIT_MAX_AGE_MS) return knownCap.gas
    const block = await reads.block('latest')
    if (block === null) throw new RpcShapeError('no latest block')
    const capped = feeModel !== 'arbitrum' && block.gasLimit > TX_GAS_CAP
    knownCap = { gas: capped ? TX_GAS_CAP : block.gasLimit, atMs: nowMs() }
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

  async function askL1Fee(step: number): Promise<bigint> {
    const hasOracle = (await reads.code(GAS_PRICE_ORACLE)).kind === 'contract'
    let wei = 0n
    if (hasOracle) {
      const data =
        GET_L1_FEE_UPPER_BOUND +
        BigInt(step * L1_FEE_STEP_BYTES)
          .toString(16)
          .padStart(64, '0')
      const answer = await rpc.request<Hex>('eth_call', [{ to: GAS_PRICE_ORACLE, data }, 'latest'])
      const bound = uintAt(answer, 0)
      if (bound === null) throw new RpcShapeError('getL1FeeUpperBound')
      wei = (bound * L1_FEE_NUMERATOR) / L1_FEE_DENOMINATOR
    }
    l1Fees.set(step, { wei, atMs: nowMs() })
    return wei
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
    l1FeeUpperBoundWei(txBytes) {
      if (feeModel !== 'op-stack') return 0n
      const step = Math.ceil(txBytes / L1_FEE_STEP_BYTES)
      const cached = l1Fees.get(step)
      return cached !== undefined && nowMs() - cached.atMs < L1_FEE_MAX_AGE_MS
        ? cached.wei
        : askL1Fee(step)
    },
  }
}

function refusal(error: unknown): GasLimit {
  if (!(error instanceof RpcCallError)) throw error
  const cause = classifyCallError(error.code, error.message)
  if (cause === 'other') throw error
  return { ok: false, cause, reason: decodeRevertReason(error.data) }
}

/**
 * The most a transaction can cost its sender besides the value it moves, wei. The L1 part is a
 * bound with headroom, not a promise: the OP stack lets no transaction cap it.
 */
export function worstCaseFeeWei(gas: bigint, maxFeePerGas: bigint, l1FeeWei: bigint): bigint {
  return gas * maxFeePerGas + l1FeeWei
}
