import { type ContractFunction, simulated } from './contract-function.js'

/**
 * Bridges: the recipient is often a bytes32, raw bytes or a string, since the other chain may not
 * be an EVM chain, and a message may name another beneficiary.
 */
export const BRIDGE_FUNCTIONS: readonly ContractFunction[] = [
  // LI.FI
  simulated(
    '4630a0d8',
    'swapTokensGeneric(bytes32 transactionId, string integrator, string referrer, address receiver, uint256 minAmount, (address callTo, address approveTo, address sendingAssetId, address receivingAssetId, uint256 fromAmount, bytes:call callData, bool requiresDeposit)[] swapData)',
  ),
  // Across v3
  simulated(
    '7b939232',
    'depositV3(address depositor, address recipient, address inputToken, address outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, address exclusiveRelayer, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, bytes message)',
  ),
  simulated(
    'ad5425c6',
    'deposit(bytes32:evm depositor, bytes32:evm recipient, bytes32:evm inputToken, bytes32:evm outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, bytes32:evm exclusiveRelayer, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityParameter, bytes message)',
  ),
  // LayerZero OFT
  simulated(
    'c7c7f5b3',
    'send((uint32 dstEid, bytes32:evm to, uint256 amountLD, uint256 minAmountLD, bytes extraOptions, bytes composeMsg, bytes oftCmd) sendParam, (uint256 nativeFee, uint256 lzTokenFee) fee, address refundAddress)',
  ),
  // CCTP v1, v2, v2 with a hook
  simulated(
    '6fd3504e',
    'depositForBurn(uint256 amount, uint32 domain, bytes32:evm mintRecipient, address burnToken)',
  ),
  simulated(
    '8e0250ee',
    'depositForBurn(uint256 amount, uint32 domain, bytes32:evm mintRecipient, address burnToken, bytes32:evm destinationCaller, uint256 maxFee, uint32 minFinality)',
  ),
  simulated(
    '779b432d',
    'depositForBurnWithHook(uint256 amount, uint32 domain, bytes32:evm mintRecipient, address burnToken, bytes32:evm destinationCaller, uint256 maxFee, uint32 minFinality, bytes hookData)',
  ),
  // Hop
  simulated(
    'deace8f5',
    'sendToL2(uint256 chainId, address recipient, uint256 amount, uint256 amountOutMin, uint256 deadline, address relayer, uint256 relayerFee)',
  ),
  // Wormhole
  simulated(
    '0f5287b0',
    'transferTokens(address token, uint256 amount, uint16 recipientChain, bytes32:evm recipient, uint256 arbiterFee, uint32 nonce)',
  ),
  // Stargate v1
  simulated(
    '9fbf10fc',
    'swap(uint16 dstChainId, uint256 srcPoolId, uint256 dstPoolId, address refundAddress, uint256 amountLD, uint256 minAmountLD, (uint256 gas, uint256 amount, bytes:prefix airdropAddress) lzTxObj, bytes:prefix to, bytes payload)',
  ),
  // THORChain: the memo names the beneficiary
  simulated(
    '44bc937b',
    'depositWithExpiry(address vault, address asset, uint256 amount, string memo, uint256 expiration)',
  ),
  // Axelar
  simulated(
    '26ef699d',
    'sendToken(string destinationChain, string destinationAddress, string symbol, uint256 amount)',
  ),
  simulated(
    'b5417084',
    'callContractWithToken(string destinationChain, string contractAddress, bytes payload, string symbol, uint256 amount)',
  ),
]
