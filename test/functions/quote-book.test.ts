import { expect, test } from 'vitest'
import { createQuoteBook, type HeldQuote } from '../../src/defi/quote-book.js'
import type { Address, LineageId, SubWalletId, UserId } from '../../src/domain/ids.js'

const TOKEN: Address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

function quoteOf(user: string): HeldQuote {
  return {
    userId: user as UserId,
    subWalletId: `sw_${user}` as SubWalletId,
    lineageId: `key_${user}` as LineageId,
    chainId: 8453,
    ...{ tokenIn: TOKEN, tokenOut: TOKEN, amountIn: 1n, minOut: 1n, slippageBps: null },
  }
}

test('a user who asks for quotes without end pushes out none but their own', () => {
  const book = createQuoteBook()
  const [mine, yours] = [quoteOf('me'), quoteOf('you')]
  book.hold('yours', yours)
  for (let n = 0; n < 40_000; n++) book.hold(`mine-${n}`, mine)
  expect(book.take('yours', yours.subWalletId)).toEqual(yours)
  expect(book.take('yours', mine.subWalletId)).toBeNull()
  expect(book.take('mine-0', mine.subWalletId)).toBeNull()
  expect(book.take('mine-39999', mine.subWalletId)).toEqual(mine)
})
