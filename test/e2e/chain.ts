import { randomBytes } from 'node:crypto'
import type { DevFile } from '../../scripts/dev/dev-file.js'
import type { Address, Hex } from '../../src/domain/ids.js'

/** What tests ask a chain themselves, so that the service is not judged by its own word. */
export interface ChainView {
  readonly chainId: number
  readonly usdc: Address
  readonly usdcDecimals: number
  /** Transactions mined from an account. */
  nonceOf(account: string): Promise<number>
  nativeBalance(account: string): Promise<bigint>
  usdcBalance(account: string): Promise<bigint>
  /** Null while it is not mined. */
  receipt(txHash: string): Promise<MinedReceipt | null>
  call(method: string, params: readonly unknown[]): Promise<unknown>
}

interface MinedReceipt {
  readonly from: string
  readonly succeeded: boolean
  /** gasUsed × effectiveGasPrice, wei. */
  readonly feeWei: bigint
}

const SELECTOR_TRANSFER = 'a9059cbb'
const SELECTOR_BALANCE_OF = '70a08231'
/** BNB Chain's bridged USDC has 18 decimals. */
const USDC_DECIMALS_BNB = 18
const USDC_DECIMALS = 6
const BNB_CHAIN_ID = 56

export function chainView(dev: DevFile, chainId: number): ChainView {
  const url = dev.rpc[chainId]
  const usdc = dev.tokens[chainId]?.USDC as Address | undefined
  if (url === undefined || usdc === undefined) throw new Error(`no chain ${chainId}`)
  const call = (method: string, params: readonly unknown[]) => jsonRpc(url, method, params)
  return {
    chainId,
    usdc,
    usdcDecimals: chainId === BNB_CHAIN_ID ? USDC_DECIMALS_BNB : USDC_DECIMALS,
    call,
    async nonceOf(account) {
      return Number(await call('eth_getTransactionCount', [account, 'latest']))
    },
    async nativeBalance(account) {
      return BigInt(String(await call('eth_getBalance', [account, 'latest'])))
    },
    async usdcBalance(account) {
      const data = `0x${SELECTOR_BALANCE_OF}${word(account)}`
      return BigInt(String(await call('eth_call', [{ to: usdc, data }, 'latest'])))
    },
    async receipt(txHash) {
      const found = (await call('eth_getTransactionReceipt', [txHash])) as Record<
        string,
        string
      > | null
      if (found === null) return null
      return {
        from: String(found.from),
        succeeded: found.status === '0x1',
        feeWei: BigInt(found.gasUsed ?? 0) * BigInt(found.effectiveGasPrice ?? 0),
      }
    },
  }
}

/** Calldata of ERC-20 `transfer`. @param amount smallest units */
export function erc20Transfer(to: string, amount: bigint): Hex {
  return `0x${SELECTOR_TRANSFER}${word(to)}${amount.toString(16).padStart(64, '0')}`
}

/** An address nobody has used. */
export function newAddress(): Address {
  return `0x${randomBytes(20).toString('hex')}`
}

function word(address: string): string {
  return address.slice(2).toLowerCase().padStart(64, '0')
}

async function jsonRpc(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } }
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`)
  return answer.result
}
