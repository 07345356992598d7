import { type ContractFunction, operator, operatorUnless } from './contract-function.js'

const WORD_BYTES = 32n
const USER_BALANCE_OP_WORDS = 5
const INTERNAL_TO_INTERNAL = 2n
/** More than any real call has; beyond it the call counts as one that moves within the vault. */
const USER_BALANCE_OPS_MAX = 32n

/**
 * Balancer's operations are one array; all kinds except one move tokens, which a simulation shows.
 */
const movesNothingWithin = (word: (index: number) => bigint) => {
  const count = word(1)
  if (word(0) !== WORD_BYTES || count > USER_BALANCE_OPS_MAX) return false
  const kinds = Array.from({ length: Number(count) }, (_, i) => word(2 + i * USER_BALANCE_OP_WORDS))
  return !kinds.includes(INTERNAL_TO_INTERNAL)
}

const SEAPORT_ORDER_PARAMETERS =
  '(address offerer, address zone, (uint8 itemType, address token, uint256 id, uint256 startAmount, uint256 endAmount)[] offer, (uint8 itemType, address token, uint256 id, uint256 startAmount, uint256 endAmount, address recipient)[] consideration, uint8 orderType, uint256 startTime, uint256 endTime, bytes32 zoneHash, uint256 salt, bytes32 conduitKey, uint256 total) parameters'

/**
 * Powers over a wallet, and over what it owns in the books of contracts, that are not rows of other
 * families. Only the wallet itself can make these calls.
 */
export const OPERATOR_FUNCTIONS: readonly ContractFunction[] = [
  // ERC-6909 and ERC-777-likes; Comet; Aave v4; delegate.xyz v1; 0x; Maker-likes
  operator('558a7297', 'setOperator(address operator, bool approved)', 1),
  operator('110496e5', 'allow(address manager, bool isAllowed)', 1),
  operator('b8caa7c5', 'approvePositionManager(address manager, bool approve)', 1),
  operator('685ee3e8', 'delegateForAll(address delegate, bool value)', 1),
  operator('ea7faa61', 'registerAllowedOrderSigner(address signer, bool allowed)', 1),
  operator('77fcce68', 'setSignatureValidatorApproval(address validator, bool approval)', 1),
  operator('b68f4004', 'urnAllow(address usr, uint256 ok)', 1),
  operator('a5e90eee', 'setManager(address manager, bool approved)', 1),
  operator('db9b7170', 'setApproval(address operator, bool approved)', 1),
  operator('4628fdd1', 'setPositionManager(address manager, bool approved)', 1),
  // The third argument is the power: ERC-6909; delegate.xyz v2 and v1; Maker; Balancer; Euler
  operator('426a8493', 'approve(address spender, uint256 id, uint256 amount)', 2),
  operator('30ff3140', 'delegateAll(address to, bytes32 rights, bool enable)', 2),
  operator('49c95d29', 'delegateForContract(address delegate, address contract, bool value)', 2),
  operator('0b63fb62', 'cdpAllow(uint256 cdp, address usr, uint256 ok)', 2),
  operator('0517b59c', 'urnAllow(uint256 cdp, address usr, uint256 ok)', 2),
  operator('fa6e671d', 'setRelayerApproval(address sender, address relayer, bool approved)', 2),
  operator('9f5c462a', 'setAccountOperator(address account, address operator, bool allowed)', 2),
  operator('c14c11bf', 'setOperator(bytes19 prefix, address operator, uint256 bitField)', 2),
  // delegate.xyz, with the contract and the right before the power
  operator(
    'd90e73ab',
    'delegateContract(address to, address contract, bytes32 rights, bool enable)',
    3,
  ),
  operator(
    '003c2ba6',
    'delegateERC20(address to, address contract, bytes32 rights, uint256 amount)',
    3,
  ),
  operator(
    '537a5c3d',
    'delegateForToken(address delegate, address contract, uint256 id, bool value)',
    3,
  ),
  operator(
    'b18e2bbb',
    'delegateERC721(address to, address contract, uint256 id, bytes32 rights, bool enable)',
    4,
  ),
  operator(
    'ab764683',
    'delegateERC1155(address to, address contract, uint256 id, bytes32 rights, uint256 amount)',
    4,
  ),
  // Never removed by the same call: Maker, Morpho, dYdX, GMX, Synthetix, EigenLayer, delegations
  operator('a3b22fc4', 'hope(address usr)', null),
  operator(
    '8069218f',
    'setAuthorizationWithSig((address authorizer, address authorized, bool isAuthorized, uint256 nonce, uint256 deadline) authorization, (uint8 v, bytes32 r, bytes32 s) signature)',
    null,
  ),
  operator('85b53fc8', 'setOperators((address operator, bool trusted)[] _)', null),
  operator('38c74dd9', 'approvePlugin(address plugin)', null),
  operator('bc87acbf', 'approveAllDelegatePowers(address delegate)', null),
  operator('00cd9ef3', 'grantPermission(uint128 account, bytes32 permission, address user)', null),
  operator(
    'eea9064b',
    'delegateTo(address operator, (bytes:opaque signature, uint256 expiry) approval, bytes32 salt)',
    null,
  ),
  operator(
    '3ed01015',
    'enableDelegation((address delegate, address delegator, bytes32 authority, (address enforcer, bytes terms, bytes args)[] caveats, uint256 salt, bytes:opaque signature) _)',
    null,
  ),
  // Orders signed by a call: 0x, Seaport; Safe
  operator('46c02d7a', 'preSign(bytes32 hash)', null),
  operator('3683ef8e', 'preSign(bytes32 hash, address signer, bytes:opaque signature)', null),
  operator(
    '88147732',
    `validate((${SEAPORT_ORDER_PARAMETERS}, bytes:opaque signature)[] orders)`,
    null,
  ),
  operator('d4d9bdcd', 'approveHash(bytes32 hash)', null),
  // Signed off chain and submitted by anyone: Comet; Aave's debts
  operator(
    'bb24d994',
    'allowBySig(address owner, address manager, bool isAllowed, uint256 nonce, uint256 expiry, uint8 v, bytes32 r, bytes32 s)',
    2,
  ),
  operator(
    '0b52d558',
    'delegationWithSig(address delegator, address delegatee, uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
    2,
  ),
  // Moved within a contract: ERC-6909; Comet; Balancer
  operator('095bcdb6', 'transfer(address to, uint256 id, uint256 amount)', null),
  operator('439e2e45', 'transferAsset(address to, address asset, uint256 amount)', null),
  operator(
    'c1ee2c18',
    'transferAssetFrom(address from, address to, address asset, uint256 amount)',
    null,
  ),
  operatorUnless(
    '0e8e3e84',
    'manageUserBalance((uint8 kind, address asset, uint256 amount, address sender, address recipient)[] ops)',
    movesNothingWithin,
  ),
]
