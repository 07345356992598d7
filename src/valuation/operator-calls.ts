import type { Hex } from '../domain/ids.js'
import { argumentWord, digitsOf } from './calldata.js'

/**
 * Calls that let others act in the wallet's name, or hand on what a contract keeps for it in books
 * of its own: operators, managers, delegates, owners and modules, pre-signed orders, claims moved
 * within a contract. What they open up nobody here can price.
 *
 * Only the wallet itself can make them, so each stands in its calldata: as the function that `to`
 * runs, or inside a batch that `to` runs on itself. They are searched for at any offset, so that no
 * nesting hides one; four bytes that look like one by chance come about once in 30,000 calls of
 * 4 kB.
 */
interface OperatorCall {
  readonly selector: string
  /** Argument word that is zero when the call takes the power back; null where none says so. */
  readonly takenBackAt: number | null
}

const calls = (takenBackAt: number | null, ...selectors: readonly string[]): OperatorCall[] =>
  selectors.map((selector) => ({ selector, takenBackAt }))

const OPERATOR_CALLS: readonly OperatorCall[] = [
  // (address, bool or amount): Morpho setAuthorization; ERC-6909 and ERC-777-likes setOperator;
  // Comet allow; Aave approveDelegation, approvePositionManager; delegate.xyz v1 delegateForAll;
  // 0x registerAllowedOrderSigner, setSignatureValidatorApproval; vat-likes urnAllow
  ...calls(1, 'eecea000', '558a7297', '110496e5', 'c04a8a10', 'b8caa7c5', '685ee3e8'),
  ...calls(1, 'ea7faa61', '77fcce68', 'b68f4004', 'a5e90eee', 'db9b7170', '4628fdd1'),
  // CoW setPreSignature(bytes, bool)
  ...calls(1, 'ec6cb13f'),
  // Three arguments, the last of them the power: ERC-6909 approve; delegate.xyz v2 delegateAll and
  // v1 delegateForContract; Maker cdpAllow, urnAllow; Balancer setRelayerApproval; Euler
  // setAccountOperator, setOperator
  ...calls(2, '426a8493', '30ff3140', '49c95d29', '0b63fb62', '0517b59c', 'fa6e671d'),
  ...calls(2, '9f5c462a', 'c14c11bf'),
  // delegate.xyz delegateContract, delegateERC20, delegateForToken; delegateERC721, delegateERC1155
  ...calls(3, 'd90e73ab', '003c2ba6', '537a5c3d'),
  ...calls(4, 'b18e2bbb', 'ab764683'),
  // Never taken back by the same call. Maker hope; Morpho setAuthorizationWithSig; dYdX setOperators;
  // GMX approvePlugin; Synthetix approveAllDelegatePowers, grantPermission; EigenLayer delegateTo;
  // DelegationManager enableDelegation
  ...calls(null, 'a3b22fc4', '8069218f', '85b53fc8', '38c74dd9', 'bc87acbf', '00cd9ef3'),
  ...calls(null, 'eea9064b', '3ed01015'),
  // Orders signed by a call: 0x preSign twice, Seaport validate; Safe approveHash
  ...calls(null, '46c02d7a', '3683ef8e', '88147732', 'd4d9bdcd'),
  // Safe enableModule, addOwnerWithThreshold, swapOwner; transferOwnership, setOwner, grantRole
  ...calls(null, '610b5925', '0d582f13', 'e318b52b', 'f2fde38b', '13af4035', '2f2ff15d'),
  // What moves within a contract: ERC-6909 transfer; Comet transferAsset, transferAssetFrom
  ...calls(null, '095bcdb6', '439e2e45', 'c1ee2c18'),
]

/** @returns true when a call, or one nested in it, opens up what has no price */
export function opensToOthers(data: Hex): boolean {
  const digits = digitsOf(data)
  return OPERATOR_CALLS.some(({ selector, takenBackAt }) => {
    for (let at = digits.indexOf(selector); at !== -1; at = digits.indexOf(selector, at + 1)) {
      // A match across two half-bytes is no selector.
      if (at % 2 !== 0) continue
      if (takenBackAt === null || argumentWord(digits, at, takenBackAt) !== 0n) return true
    }
    return false
  })
}
