import type { Address, Hex } from '../domain/ids.js'
import agentDelegate from './generated/agent-delegate.json' with { type: 'json' }
import agentRouter from './generated/agent-router.json' with { type: 'json' }

/**
 * Whether code on a chain is exactly what the committed artifacts deploy, immutables included. A
 * Router that differs slightly could send a sub-wallet's tokens anywhere.
 */

interface RuntimePart {
  readonly offset: number
  readonly length: number
  readonly immutables: readonly number[]
}

const WORD_BYTES = 32
const ADDRESS_DIGITS = 40

/** @returns the difference; null when the code is AgentRouter's */
export function routerCodeProblem(code: Hex): string | null {
  return difference(code, runtimeCode(agentRouter.bytecode, agentRouter.runtime))
}

/** @returns the difference; null when the code is that of the AgentDelegate for `router` */
export function delegateCodeProblem(code: Hex, router: Address): string | null {
  const problem = difference(code, delegateCode(router.slice(2).toLowerCase()))
  if (problem === null) return null
  const start = 2 + (agentDelegate.runtime.immutables[0] + WORD_BYTES) * 2
  const bound = code.slice(start - ADDRESS_DIGITS, start).toLowerCase()
  const obeysAnother = difference(code, delegateCode(bound)) === null
  return obeysAnother ? `its immutable ROUTER is 0x${bound}, not the router` : problem
}

function delegateCode(router: string): string {
  let code = runtimeCode(agentDelegate.bytecode, agentDelegate.runtime)
  const word = router.padStart(WORD_BYTES * 2, '0')
  for (const at of agentDelegate.runtime.immutables) {
    code = code.slice(0, at * 2) + word + code.slice((at + WORD_BYTES) * 2)
  }
  return code
}

function runtimeCode(creation: string, { offset, length }: RuntimePart): string {
  const start = 2 + offset * 2
  return creation.slice(start, start + length * 2)
}

function difference(code: Hex, expected: string): string | null {
  const digits = code.slice(2).toLowerCase()
  if (digits === '') return 'no contract at this address'
  if (digits === expected) return null
  if (digits.length !== expected.length) {
    return `the code has ${digits.length / 2} bytes, not ${expected.length / 2}`
  }
  let at = 0
  while (digits[at] === expected[at]) at++
  return `the code differs from byte ${Math.floor(at / 2)} on`
}
