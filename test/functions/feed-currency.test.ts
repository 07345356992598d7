import { expect, test } from 'vitest'
import { feedCurrency } from '../../src/contracts/feed-currency.js'

test.each([
  ['ETH / USD', 'USD'],
  ['USDC/USD', 'USD'],
  ['EURC / usd', 'USD'],
  ['USDC / ETH', 'ETH'],
  ['rETH / ETH (Calculated)', 'ETH'],
  ['wstETH / ETH Exchange Rate', ''],
  ['WSTETH-STETH Exchange Rate', ''],
  ['A venue of our own', null],
  ['', null],
])('a feed described as %j quotes in %j', (description, currency) => {
  expect(feedCurrency(description)).toBe(currency)
})
