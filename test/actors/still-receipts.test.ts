import { encodeEventTopics, erc20Abi, zeroHash } from 'viem'
import { expect, test } from 'vitest'
import { isStill } from '../../actors/chain-watcher/core/still-receipts.js'
import type { Receipt, ReceiptLog } from '../../src/chains/receipts.js'
import type { Address, Hex } from '../../src/domain/ids.js'

const TOKEN: Address = '0x00000000000000000000000000000000000000A1'
const WALLET: Address = '0x00000000000000000000000000000000000000b2'
const OTHER: Address = '0x00000000000000000000000000000000000000C3'

function logOf(eventName: 'Transfer' | 'Approval', first: Address, second: Address): ReceiptLog {
  const args =
    eventName === 'Transfer' ? { from: first, to: second } : { owner: first, spender: second }
  return {
    address: TOKEN,
    topics: encodeEventTopics({ abi: erc20Abi, eventName, args }) as Hex[],
    data: zeroHash,
  }
}

const empty = {
  ...{ status: 'success', gasUsed: 30_000n },
  ...{ logs: [] as readonly ReceiptLog[], logsTruncated: false },
} satisfies Partial<Receipt>

test.each<[string, Partial<Receipt>]>([
  ['without logs', {}],
  ['of a transfer to its sender', { logs: [logOf('Transfer', OTHER, WALLET)] }],
  ['of an approval by its sender', { logs: [logOf('Approval', WALLET, OTHER)] }],
])('a receipt %s shows that no token left the sender', (_what, shown) => {
  expect(isStill(WALLET, { ...empty, ...shown })).toBe(true)
})

test.each<[string, Partial<Receipt>]>([
  ['of a transfer by its sender', { logs: [logOf('Transfer', WALLET, OTHER)] }],
  [
    'of a transfer by its sender behind others',
    { logs: [logOf('Transfer', OTHER, TOKEN), logOf('Transfer', WALLET, OTHER)] },
  ],
  ['whose logs are not all known', { logsTruncated: true }],
  ['of a call that reverted', { status: 'reverted' }],
  ['of a bare transfer of native currency', { gasUsed: 21_000n }],
])('a receipt %s gives nothing back', (_what, shown) => {
  expect(isStill(WALLET, { ...empty, ...shown })).toBe(false)
})
