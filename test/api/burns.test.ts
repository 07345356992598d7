import { encodeFunctionData, erc20Abi } from 'viem'
import { expect, test } from 'vitest'
import { NATIVE_TOKEN } from '../../src/domain/chains.js'
import { type Address, type Hex, ZERO_ADDRESS } from '../../src/domain/ids.js'
import { burnFault } from '../../src/operations/burns.js'

const TOKEN: Address = '0x00000000000000000000000000000000000000A1'
const OTHER: Address = '0x000000000000000000000000000000000000dEaD'

function transfer(to: Address): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, 5n] })
}

function transferFrom(to: Address): Hex {
  const args = [OTHER, to, 5n] as const
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args })
}

const BURNS: readonly (readonly [name: string, to: Address, data: Hex])[] = [
  ['native currency to the zero address', ZERO_ADDRESS, '0x'],
  ['a call of the zero address', ZERO_ADDRESS, '0x12345678'],
  ['native currency to 0xEeee…EEeE', NATIVE_TOKEN, '0x'],
  ['a token to its own contract', TOKEN, transfer(TOKEN)],
  ['a token to the zero address', TOKEN, transfer(ZERO_ADDRESS)],
  ['a token to 0xEeee…EEeE', TOKEN, transfer(NATIVE_TOKEN)],
  ['a token of another account to its own contract', TOKEN, transferFrom(TOKEN)],
  ['a token of another account to the zero address', TOKEN, transferFrom(ZERO_ADDRESS)],
]

test.each(BURNS)('%s is refused unless the request allows it', (_name, to, data) => {
  const refused = burnFault({ to, data, allowBurn: false })
  expect(refused).toMatchObject({
    code: 'INVALID_REQUEST',
    message: expect.stringContaining('allow_burn'),
  })
  expect(burnFault({ to, data, allowBurn: true })).toBeNull()
})

test.each<[string, Address, Hex]>([
  ['native currency to an account', OTHER, '0x'],
  ['a token to an account', TOKEN, transfer(OTHER)],
  ['a token of another account to an account', TOKEN, transferFrom(OTHER)],
  ['another call that names the token', TOKEN, `0x12345678${transfer(TOKEN).slice(10)}`],
  ['a transfer that is cut off', TOKEN, '0xa9059cbb00'],
])('%s is not taken for a burn', (_name, to, data) => {
  expect(burnFault({ to, data, allowBurn: false })).toBeNull()
})
