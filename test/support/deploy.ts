import { setTimeout as sleep } from 'node:timers/promises'
import { type Abi, encodeDeployData, getAddress } from 'viem'
import type { Address, Hex } from '../../src/domain/ids.js'
import type { Anvil } from './anvil.js'

/** Owner of what tests deploy; impersonated, so it needs no key. */
export const DEPLOYER: Address = '0x00000000000000000000000000000000DeaDBeef'

/** Runs a transaction from any account and waits for its receipt. @throws Error when it reverts */
export async function transact(
  anvil: Anvil,
  tx: { readonly from?: Address; readonly to?: Address; readonly data?: Hex; readonly value?: Hex },
): Promise<Readonly<Record<string, unknown>>> {
  const from = tx.from ?? DEPLOYER
  await anvil.rpc('anvil_impersonateAccount', [from])
  await anvil.rpc('anvil_setBalance', [from, '0x8ac7230489e80000'])
  const hash = await anvil.rpc('eth_sendTransaction', [{ ...tx, from, gas: '0xe4e1c0' }])
  for (let attempt = 0; attempt < RECEIPT_ATTEMPTS_MAX; attempt++) {
    const receipt = await anvil.rpc('eth_getTransactionReceipt', [hash])
    // Anvil answers the send before it has mined the block.
    if (receipt === null) {
      await sleep(RECEIPT_PAUSE_MS)
      continue
    }
    const mined = receipt as Readonly<Record<string, unknown>>
    if (mined.status !== '0x1') throw new Error(`transaction ${String(hash)} reverted`)
    return mined
  }
  throw new Error(`transaction ${String(hash)} was not mined`)
}

const RECEIPT_ATTEMPTS_MAX = 3_000
const RECEIPT_PAUSE_MS = 10

export interface DeployedContract {
  readonly abi: Abi
  readonly bytecode: string
  readonly args?: readonly unknown[]
}

/** @returns the checksummed address of the new contract */
export async function deploy(anvil: Anvil, contract: DeployedContract): Promise<Address> {
  const { abi, bytecode, args = [] } = contract
  const data = encodeDeployData({ abi, bytecode: bytecode as Hex, args })
  const receipt = await transact(anvil, { data })
  return getAddress(String(receipt.contractAddress))
}
