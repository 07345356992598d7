import { TX_GAS_CAP } from './gas-limits.js'

/**
 * What a transaction on the OP stack costs besides gas limit × maxFeePerGas: the fee for its data
 * on L1, and since Isthmus the operator fee, `gas × scalar + constant`. The transaction can cap
 * neither, so both are bounds with headroom, not guarantees.
 */
export interface SideFee {
  readonly dataWei: bigint
  /** The operator fee at zero gas, wei. */
  readonly operatorConstantWei: bigint
  /** The operator fee at `TX_GAS_CAP`, wei. */
  readonly operatorAtCapWei: bigint
}

export const NO_SIDE_FEE: SideFee = { dataWei: 0n, operatorConstantWei: 0n, operatorAtCapWei: 0n }

/** @returns wei, rounded up */
export function sideFeeWei(gas: bigint, fee: SideFee): bigint {
  const { dataWei, operatorConstantWei, operatorAtCapWei } = fee
  const perCap = operatorAtCapWei - operatorConstantWei
  const byGas = perCap <= 0n ? 0n : (perCap * gas + TX_GAS_CAP - 1n) / TX_GAS_CAP
  return dataWei + operatorConstantWei + byGas
}

/** The most a transaction can cost its sender besides the value it moves, wei. */
export function worstCaseFeeWei(gas: bigint, maxFeePerGas: bigint, sideFee: SideFee): bigint {
  return gas * maxFeePerGas + sideFeeWei(gas, sideFee)
}
