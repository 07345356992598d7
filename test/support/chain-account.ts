import { privateKeyToAccount } from 'viem/accounts'
import type { Hex } from '../../src/domain/ids.js'
import type { Anvil } from './anvil.js'

/** A funded account that signs plain EIP-1559 transactions, for tests that talk to a node. */
export interface ChainAccount {
  readonly address: Hex
  sign(tx: Partial<TestTransaction>): Promise<Hex>
}

interface TestTransaction {
  readonly nonce: number
  readonly to: Hex
  readonly value: bigint
  readonly data: Hex
  readonly gas: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

const TEN_ETHER = '0x8ac7230489e80000'

/** @param index names the key; equal indexes give equal accounts */
export async function fundedAccount(anvil: Anvil, index: number): Promise<ChainAccount> {
  const key = `0x${(index + 1).toString(16).padStart(64, '0')}` as const
  const account = privateKeyToAccount(key)
  await anvil.rpc('anvil_setBalance', [account.address, TEN_ETHER])
  return {
    address: account.address,
    sign: (tx) =>
      account.signTransaction({
        type: 'eip1559',
        chainId: anvil.chainId,
        nonce: 0,
        to: account.address,
        value: 0n,
        data: '0x',
        gas: 21_000n,
        maxFeePerGas: 10_000_000_000n,
        maxPriorityFeePerGas: 1_000_000_000n,
        ...tx,
      }),
  }
}
