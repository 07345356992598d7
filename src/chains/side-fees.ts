import { uintAt } from '../contracts/abi-words.js'
import { TX_GAS_CAP } from '../domain/gas-limits.js'
import type { Address, Hex } from '../domain/ids.js'
import { NO_SIDE_FEE, type SideFee } from '../domain/transaction-fee.js'
import { contractCall } from './contract-call.js'
import { RpcCallError, RpcShapeError } from './rpc/errors.js'
import type { RpcClient, RpcResult } from './rpc/types.js'

/** The fees of the OP stack besides gas, from its GasPriceOracle. */
interface SideFees {
  /**
   * At once while cached.
   * @param txBytes length of the unsigned serialised transaction
   */
  of(txBytes: number): SideFee | Promise<SideFee>
}

/** A predeploy of the OP stack (specs, "Predeploys"). */
const GAS_PRICE_ORACLE: Address = '0x420000000000000000000000000000000000000F'
/** `getL1FeeUpperBound(uint256)`, since Fjord. */
const GET_L1_FEE_UPPER_BOUND = '0xf1c7a58b'
/** `getOperatorFee(uint256)`, since Isthmus. */
const GET_OPERATOR_FEE = '0x275aedd2'
/** Moves with Ethereum's base fee, up to 1/8 per 12 s. */
const L1_FEE_NUMERATOR = 3n
const L1_FEE_DENOMINATOR = 2n
const MAX_AGE_MS = 12_000
/** Only a development chain that is not really of the OP stack has no oracle. */
const ABSENT_MAX_AGE_MS = 1_500
/** Sizes are rounded up to these steps, so that the cache stays small and answers stay bounds. */
const STEP_BYTES = 256

export function createSideFees(
  rpc: Pick<RpcClient, 'batch' | 'request'>,
  nowMs: () => number,
): SideFees {
  const known = new Map<number, { readonly fee: SideFee; readonly untilMs: number }>()

  async function ask(step: number): Promise<SideFee> {
    // Not from the cached code: the oracle must be found soon after its deployment.
    const code = await rpc.request<unknown>('eth_getCode', [GAS_PRICE_ORACLE, 'latest'])
    if (code === '0x') return keep(step, NO_SIDE_FEE, ABSENT_MAX_AGE_MS)
    const [bound, constant, atCap] = await rpc.batch([
      oracleCall(GET_L1_FEE_UPPER_BOUND, BigInt(step * STEP_BYTES)),
      oracleCall(GET_OPERATOR_FEE, 0n),
      oracleCall(GET_OPERATOR_FEE, TX_GAS_CAP),
    ])
    const dataWei = (wordOf(bound) * L1_FEE_NUMERATOR) / L1_FEE_DENOMINATOR
    const operatorConstantWei = sinceIsthmus(constant)
    return keep(
      step,
      { dataWei, operatorConstantWei, operatorAtCapWei: sinceIsthmus(atCap) },
      MAX_AGE_MS,
    )
  }

  function keep(step: number, fee: SideFee, maxAgeMs: number): SideFee {
    known.set(step, { fee, untilMs: nowMs() + maxAgeMs })
    return fee
  }

  return {
    of(txBytes) {
      const step = Math.ceil(txBytes / STEP_BYTES)
      const cached = known.get(step)
      return cached !== undefined && nowMs() < cached.untilMs ? cached.fee : ask(step)
    },
  }
}

function oracleCall(selector: Hex, argument: bigint) {
  return contractCall(GAS_PRICE_ORACLE, `${selector}${argument.toString(16).padStart(64, '0')}`)
}

function wordOf(answer: RpcResult | undefined): bigint {
  if (answer?.ok === false) throw answer.error
  const word = uintAt(answer?.value as Hex, 0)
  if (word === null) throw new RpcShapeError('a fee of the GasPriceOracle')
  return word
}

/** An oracle of an earlier fork has no such function, and the chain no such fee. */
function sinceIsthmus(answer: RpcResult | undefined): bigint {
  if (answer?.ok === false && answer.error instanceof RpcCallError) return 0n
  return wordOf(answer)
}
