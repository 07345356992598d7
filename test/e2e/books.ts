import { expect } from 'vitest'
import type { TransactionView } from '../../src/api/transaction.js'
import { parseUsd } from '../../src/domain/money.js'
import { type ChainView, chainView } from './chain.js'
import { allFinal, type IssuedKey, type Stack, usedToday } from './stack.js'

const USD = 1_000_000n
const DAYS = 30

/** What an audit of one key starts from. */
export interface Opening {
  readonly chain: ChainView
  readonly key: IssuedKey
  readonly nonce: number
  readonly recipient: `0x${string}`
}

export async function openBooks(
  { service }: Stack,
  key: IssuedKey,
  chainId: number,
  recipient: `0x${string}`,
): Promise<Opening> {
  const chain = chainView(service.dev(), chainId)
  return { chain, key, recipient, nonce: await chain.nonceOf(service.dev().address) }
}

/**
 * Compares the service's record of one-dollar sends with what the chain says, once all are final:
 * every nonce used once and none left out, every transaction mined once, the spend exact.
 * @returns the key's transactions
 */
export async function closeBooks(stack: Stack, opening: Opening): Promise<TransactionView[]> {
  const { chain, key, nonce, recipient } = opening
  const all = await allFinal(stack.owner, key)
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['confirmed']))
  const nonces = all.map((tx) => tx.nonce ?? -1).sort((a, b) => a - b)
  expect(nonces).toEqual(Array.from(nonces, (_, i) => nonce + i))
  expect(await chain.nonceOf(stack.service.dev().address)).toBe(nonce + all.length)
  for (const { tx_hash } of all) {
    expect(await chain.receipt(tx_hash ?? ''), tx_hash ?? 'unsigned').toMatchObject({
      succeeded: true,
    })
  }
  expect(await chain.usdcBalance(recipient)).toBe(BigInt(all.length) * USD)
  const spent = all.reduce((sum, { spend_usd }) => sum + (parseUsd(spend_usd) ?? 0n), 0n)
  expect(await usedToday(key.api)).toBe(spent)
  const days = await spentByDay(stack, key)
  expect(days).toHaveLength(DAYS)
  expect(days.at(-1), 'all of it today').toBe(spent)
  expect(days.reduce((sum, micros) => sum + micros, 0n)).toBe(spent)
  return all
}

/** Micro-dollars, the oldest of the days first. */
async function spentByDay({ owner }: Stack, { keyId }: IssuedKey): Promise<readonly bigint[]> {
  const { json } = await owner.get(`/spend?key_id=${keyId}&days=${DAYS}`)
  const days = (json.keys?.[0]?.days ?? []) as readonly { readonly spent_usd: string }[]
  return days.map(({ spent_usd }) => parseUsd(spent_usd) ?? -1n)
}
