import {
  type Abi,
  type Chain,
  type Client,
  type ContractFunctionArgs,
  type ContractFunctionName,
  concatHex,
  createTestClient,
  encodeAbiParameters,
  encodeFunctionData,
  getAddress,
  type HttpTransport,
  http,
  type LocalAccount,
  type PublicActions,
  publicActions,
  type TestActions,
  type TransactionReceipt,
  type WalletActions,
  walletActions,
} from 'viem'
import type { Address, Hex } from '../../src/domain/ids.js'

type ChainClient = Client<
  HttpTransport,
  Chain,
  LocalAccount,
  undefined,
  TestActions &
    PublicActions<HttpTransport, Chain, LocalAccount> &
    WalletActions<Chain, LocalAccount>
>

/** Sends transactions of one account to a development chain, one after the other. */
export type ChainWriter = ReturnType<typeof openChainWriter>

/**
 * Exact estimates sometimes run out: the cost of a call depends on the block's time (a new oracle
 * slot of a Uniswap pool), and the estimate belongs to an earlier block.
 */
const GAS_PERCENT = 130n
/** Longer than anvil waits for a block. */
const REQUEST_TIMEOUT_MS = 60_000

/**
 * @param account pays for and owns what is deployed
 * @param rpcUrl an anvil node; its `anvil_*` methods are used too
 */
export function openChainWriter(rpcUrl: string, chainId: number, account: LocalAccount) {
  const client: ChainClient = createTestClient({
    mode: 'anvil',
    account,
    chain: {
      id: chainId,
      name: `development chain ${chainId}`,
      nativeCurrency: { name: 'native', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [rpcUrl] } },
    },
    // A retry of a request that waits for its block would send it twice.
    transport: http(rpcUrl, { timeout: REQUEST_TIMEOUT_MS }),
  })
    .extend(publicActions)
    .extend(walletActions)

  /** @throws Error that names the transaction when it reverted */
  async function send(request: {
    to?: Address
    data: Hex
    value?: bigint
  }): Promise<TransactionReceipt> {
    const gas = ((await client.estimateGas(request)) * GAS_PERCENT) / 100n
    const receipt = await client.sendTransactionSync({ ...request, gas })
    if (receipt.status !== 'success') throw new Error(`reverted: ${receipt.transactionHash}`)
    return receipt
  }

  return {
    client,
    chainId,
    rpcUrl,
    account,
    send,

    /** @param argumentTypes ABI types of the constructor, such as `['address', 'uint8']` */
    async deploy(
      bytecode: Hex,
      argumentTypes: readonly string[] = [],
      args: readonly unknown[] = [],
    ): Promise<Address> {
      const encoded = encodeAbiParameters(
        argumentTypes.map((type) => ({ type })),
        args,
      )
      const receipt = await send({ data: concatHex([bytecode, encoded]) })
      if (!receipt.contractAddress) throw new Error('no contract was created')
      return getAddress(receipt.contractAddress)
    },

    async write<
      const abi extends Abi,
      name extends ContractFunctionName<abi, 'nonpayable' | 'payable'>,
    >(
      to: Address,
      abi: abi,
      functionName: name,
      args: ContractFunctionArgs<abi, 'nonpayable' | 'payable', name>,
      value = 0n,
    ): Promise<TransactionReceipt> {
      // The caller's types have checked name and arguments against the ABI.
      const call: { abi: Abi; functionName: string; args: readonly unknown[] } = {
        abi,
        functionName,
        args: args as readonly unknown[],
      }
      return send({ to, data: encodeFunctionData(call), value })
    },
  }
}
