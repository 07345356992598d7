import { encodeAbiParameters, getCreate2Address, keccak256, stringToHex } from 'viem/utils'
import type { Address, Hex } from '../domain/ids.js'
import agentDelegate from './generated/agent-delegate.json' with { type: 'json' }
import agentRouter from './generated/agent-router.json' with { type: 'json' }

/**
 * The addresses of Router and delegate: the same on every chain, because their CREATE2 addresses
 * depend only on the bytecode, the salt and the owner. The deployer does not matter.
 */
interface Create2Deployment {
  readonly address: Address
  readonly salt: Hex
  readonly initCode: Hex
  /** The transaction to send when `address` has no code yet; value 0. */
  readonly transaction: { readonly to: Address; readonly data: Hex }
}

/**
 * The deterministic deployment proxy of N. Arachnid, present on every supported chain: calldata is
 * salt ‖ init code.
 */
export const CREATE2_PROXY: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C'

const ROUTER_SALT = keccak256(stringToHex('countersign.AgentRouter.2'))
const DELEGATE_SALT = keccak256(stringToHex('countersign.AgentDelegate.1'))

/** @param owner owns the Router: configures it, and cannot move funds */
export function routerDeployment(owner: Address): Create2Deployment {
  return create2(ROUTER_SALT, `${agentRouter.bytecode}${addressArgument(owner)}`)
}

/** The delegate that obeys the Router at `router`. */
export function delegateDeployment(router: Address): Create2Deployment {
  return create2(DELEGATE_SALT, `${agentDelegate.bytecode}${addressArgument(router)}`)
}

function create2(salt: Hex, initCode: Hex): Create2Deployment {
  return {
    address: getCreate2Address({ from: CREATE2_PROXY, salt, bytecode: initCode }),
    salt,
    initCode,
    transaction: { to: CREATE2_PROXY, data: `${salt}${initCode.slice(2)}` },
  }
}

function addressArgument(address: Address): string {
  return encodeAbiParameters([{ type: 'address' }], [address]).slice(2)
}
