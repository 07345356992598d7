import { toFunctionSelector } from 'viem'
import { expect, test } from 'vitest'
import * as selectors from '../../src/contracts/selectors.js'

test.each([
  [selectors.BALANCE_OF, 'balanceOf(address)'],
  [selectors.ALLOWANCE, 'allowance(address,address)'],
  [selectors.DECIMALS, 'decimals()'],
  [selectors.SYMBOL, 'symbol()'],
  [selectors.ASSET, 'asset()'],
  [selectors.PERMIT2_ALLOWANCE, 'allowance(address,address,address)'],
  [selectors.LATEST_ROUND_DATA, 'latestRoundData()'],
  [selectors.DESCRIPTION, 'description()'],
  [selectors.ERC20_TRANSFER, 'transfer(address,uint256)'],
])('%s is what %s hashes to', (selector, signature) => {
  expect(toFunctionSelector(signature)).toBe(selector)
})

test('a transfer with anything behind it is not taken for a plain one', () => {
  const transfer = `${selectors.ERC20_TRANSFER}${'11'.repeat(64)}` as const
  expect(selectors.isErc20Transfer(transfer)).toBe(true)
  expect(selectors.isErc20Transfer(`${transfer}00`)).toBe(false)
  expect(selectors.isErc20Transfer(`${selectors.ALLOWANCE}${'11'.repeat(64)}`)).toBe(false)
})
