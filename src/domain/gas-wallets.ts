import { type GasWalletId, ID_PREFIX, type SubWalletId, ulidBody } from './ids.js'

/** Gas wallets per chain: each has 16 transactions in flight, and one may run out of funds. */
export const GAS_WALLETS_PER_CHAIN = 4

export function gasWalletId(chainId: number, index: number): GasWalletId {
  return `${chainId}:${index}` as GasWalletId
}

export function chainOfGasWallet(id: GasWalletId): number {
  return Number(id.slice(0, id.indexOf(':')))
}

/** Every gas wallet of a chain, starting with the one that this sub-wallet uses first. */
export function gasWalletsFor(chainId: number, subWalletId: SubWalletId): GasWalletId[] {
  let sum = 0
  for (let i = 0; i < subWalletId.length; i++) {
    sum = (Math.imul(sum, 31) + subWalletId.charCodeAt(i)) >>> 0
  }
  return Array.from({ length: GAS_WALLETS_PER_CHAIN }, (_, i) =>
    gasWalletId(chainId, (sum + i) % GAS_WALLETS_PER_CHAIN),
  )
}

/** Offsets within the ten bytes that follow the time in the name of a gas wallet's key. */
const ENTROPY_AT = 6
const CHAIN_AT = 0
const CELL_AT = 6
const INDEX_AT = 8

/**
 * The name of its key at the quorum. It is made only from chain, index and cell, so that an
 * interrupted start and a restored store find the same key again.
 * @param cell the number of the cell that uses it: each has gas wallets of its own
 */
export function gasWalletKey(id: GasWalletId, cell: number): SubWalletId {
  const entropy = new Uint8Array(10)
  const view = new DataView(entropy.buffer)
  view.setUint32(CHAIN_AT, chainOfGasWallet(id))
  view.setUint16(CELL_AT, cell)
  view.setUint16(INDEX_AT, Number(id.slice(id.indexOf(':') + 1)))
  return (ID_PREFIX.subWallet + ulidBody(0, entropy)) as SubWalletId
}

/** @param walletId the 16 bytes of a gas wallet's name at the quorum */
export function cellOfGasWalletKey(walletId: Uint8Array): number {
  const { buffer, byteOffset, byteLength } = walletId
  return new DataView(buffer, byteOffset, byteLength).getUint16(ENTROPY_AT + CELL_AT)
}
