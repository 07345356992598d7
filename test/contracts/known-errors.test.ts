import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Abi, encodeErrorResult, parseAbiItem, toFunctionSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import { KNOWN_ERRORS } from '../../src/contracts/errors.js'
import agentRouter from '../../src/contracts/generated/agent-router.json' with { type: 'json' }
import { decodeKnownError } from '../../src/contracts/known-errors.js'
import { decodeRevertReason } from '../../src/contracts/revert-reason.js'

const OPENZEPPELIN = 'node_modules/@openzeppelin/contracts/build/contracts'
const SOMEBODY = '0x00000000000000000000000000000000000000aa'

const reverting = (declaration: string, args: readonly unknown[]) => {
  const item = parseAbiItem(`error ${declaration}`)
  return encodeErrorResult({ abi: [item] as Abi, args: [...args] })
}

describe('a known custom error', () => {
  test('is shown by its name and values', () => {
    const declaration = 'ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)'
    expect(decodeRevertReason(reverting(declaration, [SOMEBODY, 5n, 7n]))).toBe(
      `ERC20InsufficientBalance: sender ${SOMEBODY}, balance 5, needed 7`,
    )
  })

  test('of the Router is shown from its own ABI', () => {
    const data = encodeErrorResult({
      abi: agentRouter.abi as Abi,
      errorName: 'SlippageExceeded',
      args: [1n, 2n],
    })
    expect(decodeRevertReason(data)).toBe('SlippageExceeded: amountOut 1, minOut 2')
  })

  test.each(KNOWN_ERRORS)('has the selector that Solidity gives it: %s', (declaration) => {
    const selector = toFunctionSelector(declaration)
    const name = declaration.slice(0, declaration.indexOf('('))
    expect(decodeKnownError(`${selector}${'0'.repeat(64 * 8)}`)?.name).toBe(name)
  })

  test('that is cut short is shown by its selector alone', () => {
    const whole = reverting('ERC20InvalidSender(address sender)', [SOMEBODY])
    expect(decodeRevertReason(whole.slice(0, -2))).toBe(`custom error ${whole.slice(0, 10)}`)
  })

  test('leaves out what it carries of unbounded length', () => {
    const nested = `0x${'ab'.repeat(10_000)}`
    const data = reverting('ExecutionFailed(uint256 commandIndex, bytes message)', [3n, nested])
    expect(decodeRevertReason(data)).toBe('ExecutionFailed: commandIndex 3')
  })
})

test('the few letters of Uniswap are shown with their meaning', () => {
  const data = reverting('Error(string message)', ['STF'])
  expect(decodeRevertReason(data)).toContain('STF: a token could not be taken')
})

test('each error of OpenZeppelin’s tokens, vaults and their parts is in the table', () => {
  const parts =
    /^(IERC20Errors|ERC4626|SafeERC20|Pausable|Ownable|ERC20Permit|ReentrancyGuard)\.json$/
  const known = new Set(KNOWN_ERRORS.map((declaration) => toFunctionSelector(declaration)))
  const missing: string[] = []
  for (const file of readdirSync(OPENZEPPELIN).filter((name) => parts.test(name))) {
    const { abi } = JSON.parse(readFileSync(join(OPENZEPPELIN, file), 'utf8')) as { abi: Abi }
    for (const item of abi) {
      if (item.type !== 'error') continue
      const signature = `${item.name}(${item.inputs.map(({ type }) => type).join(',')})`
      if (!known.has(toFunctionSelector(signature))) missing.push(signature)
    }
  }
  expect(missing).toEqual([])
})
