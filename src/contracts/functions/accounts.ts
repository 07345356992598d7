import { type ContractFunction, operator, operatorUnless, simulated } from './contract-function.js'

/**
 * Safe's MultiSendCallOnly, whose code is the same at each of these addresses (safe-deployments:
 * v1.3.0, its EIP-155 variant, v1.4.1, v1.5.0).
 */
const MULTI_SEND_CALL_ONLY: ReadonlySet<bigint> = new Set([
  0x40a2accbd92bca938b02010e17a5b8929b49130dn,
  0xa1dabef33b3b82c7814b6d82a79e50f4ac44102bn,
  0x9641d764fc13c8b624c04430c7356c1c7c8102e2n,
  0xa83c336b20401af773b6219ba5027174338d1836n,
])

/**
 * With operation 1 a Safe runs foreign code as its own, which may change its owners without a trace
 * in logs or calldata.
 */
const callsAlone = (word: (index: number) => bigint) =>
  word(3) === 0n || (word(3) === 1n && MULTI_SEND_CALL_ONLY.has(word(0)))

/** Multicall3, Disperse, Safe, ERC-4337, ERC-7579, ERC-7821 and plain account executors. */
export const ACCOUNT_FUNCTIONS: readonly ContractFunction[] = [
  simulated('82ad56cb', 'aggregate3((address target, bool allowFailure, bytes:call callData)[] _)'),
  simulated(
    '174dea71',
    'aggregate3Value((address target, bool allowFailure, uint256 value, bytes:call callData)[] _)',
  ),
  simulated('252dba42', 'aggregate((address target, bytes:call callData)[] _)'),
  simulated(
    'bce38bd7',
    'tryAggregate(bool requireSuccess, (address target, bytes:call callData)[] _)',
  ),
  simulated('e63d38ed', 'disperseEther(address[] recipients, uint256[] values)'),
  simulated('c73a2d60', 'disperseToken(address token, address[] recipients, uint256[] values)'),
  simulated(
    '51ba162c',
    'disperseTokenSimple(address token, address[] recipients, uint256[] values)',
  ),
  // Safe
  operatorUnless(
    '6a761202',
    'execTransaction(address to, uint256 value, bytes:call data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes:opaque signatures)',
    callsAlone,
  ),
  simulated('8d80ff0a', 'multiSend(bytes:multisend _)'),
  simulated(
    '1688f0b9',
    'createProxyWithNonce(address singleton, bytes:call initializer, uint256 saltNonce)',
  ),
  simulated(
    'b63e800d',
    'setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)',
  ),
  operator('0d582f13', 'addOwnerWithThreshold(address owner, uint256 threshold)', null),
  operator('e318b52b', 'swapOwner(address prevOwner, address oldOwner, address newOwner)', null),
  operator('610b5925', 'enableModule(address module)', null),
  operatorUnless(
    '468721a7',
    'execTransactionFromModule(address to, uint256 value, bytes:call data, uint8 operation)',
    callsAlone,
  ),
  operatorUnless(
    '5229073f',
    'execTransactionFromModuleReturnData(address to, uint256 value, bytes:call data, uint8 operation)',
    callsAlone,
  ),
  // Zodiac's roles, v2 and v1
  operatorUnless(
    'c6fe8747',
    'execTransactionWithRole(address to, uint256 value, bytes:call data, uint8 operation, bytes32 role, bool shouldRevert)',
    callsAlone,
  ),
  operatorUnless(
    '2b99e506',
    'execTransactionWithRoleReturnData(address to, uint256 value, bytes:call data, uint8 operation, bytes32 role, bool shouldRevert)',
    callsAlone,
  ),
  operatorUnless(
    '6928e74b',
    'execTransactionWithRole(address to, uint256 value, bytes:call data, uint8 operation, uint16 role, bool shouldRevert)',
    callsAlone,
  ),
  // A message that the Safe has signed from now on, by ERC-1271
  operator('85a5affe', 'signMessage(bytes message)', null),
  // ERC-4337 v0.6 and v0.7
  simulated(
    '1fad948c',
    'handleOps((address sender, uint256 nonce, bytes:prefix initCode, bytes:call callData, uint256 callGasLimit, uint256 verificationGasLimit, uint256 preVerificationGas, uint256 maxFeePerGas, uint256 maxPriorityFeePerGas, bytes:prefix paymasterAndData, bytes:opaque signature)[] _, address beneficiary)',
  ),
  simulated(
    '765e827f',
    'handleOps((address sender, uint256 nonce, bytes:prefix initCode, bytes:call callData, bytes32 accountGasLimits, uint256 preVerificationGas, bytes32 gasFees, bytes:prefix paymasterAndData, bytes:opaque signature)[] _, address beneficiary)',
  ),
  // ERC-7579 and ERC-7821
  simulated('e9ae5c53', 'execute(bytes32 mode, bytes:opaque executionCalldata)', 'execution'),
  simulated(
    'd691c964',
    'executeFromExecutor(bytes32 mode, bytes:opaque executionCalldata)',
    'execution',
  ),
  simulated('34fcd5be', 'executeBatch((address target, uint256 value, bytes:call data)[] _)'),
  simulated('47e1da2a', 'executeBatch(address[] targets, uint256[] values, bytes:call[] data)'),
  simulated('18dfb3c7', 'executeBatch(address[] targets, bytes:call[] data)'),
  simulated('b61d27f6', 'execute(address target, uint256 value, bytes:call data)'),
]
