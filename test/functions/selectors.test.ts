import { toFunctionSelector } from 'viem'
import { expect, test } from 'vitest'
import * as selectors from '../../src/contracts/selectors.js'
import {
  ERC20_TRANSFER,
  ERC20_TRANSFER_FROM,
  isErc20Transfer,
} from '../../src/domain/erc20-transfer.js'

test.each([
  [selectors.BALANCE_OF, 'balanceOf(address)'],
  [selectors.ALLOWANCE, 'allowance(address,address)'],
  [selectors.DECIMALS, 'decimals()'],
  [selectors.SYMBOL, 'symbol()'],
  [selectors.ASSET, 'asset()'],
  [selectors.PERMIT2_ALLOWANCE, 'allowance(address,address,address)'],
  [selectors.LATEST_ROUND_DATA, 'latestRoundData()'],
  [selectors.DESCRIPTION, 'description()'],
  [ERC20_TRANSFER, 'transfer(address,uint256)'],
  [ERC20_TRANSFER_FROM, 'transferFrom(address,address,uint256)'],
])('%s is what %s hashes to', (selector, signature) => {
  expect(toFunctionSelector(signature)).toBe(selector)
})

test('a transfer with anything behind it is not taken for a plain one', () => {
  const transfer = `${ERC20_TRANSFER}${'11'.repeat(64)}` as const
  expect(isErc20Transfer(transfer)).toBe(true)
  expect(isErc20Transfer(`${transfer}00`)).toBe(false)
  expect(isErc20Transfer(`${selectors.ALLOWANCE}${'11'.repeat(64)}`)).toBe(false)
})
