import { type ContractFunction, simulated } from './contract-function.js'

const ONE_INCH_DESC =
  '(address srcToken, address dstToken, address srcReceiver, address dstReceiver, uint256 amount, uint256 minReturn, uint256 flags) desc'
const PARASWAP_GENERIC =
  '(address srcToken, address destToken, uint256 a, uint256 b, uint256 c, bytes32 metadata, address beneficiary) _'
const PARASWAP_UNISWAP_V3 =
  '(address srcToken, address destToken, uint256 a, uint256 b, uint256 c, bytes32 metadata, address beneficiary, bytes pools) _'

/** 1inch v5 and v6, 0x Settler and AllowanceHolder, ParaSwap v6.2, OKX. */
export const AGGREGATOR_FUNCTIONS: readonly ContractFunction[] = [
  simulated(
    '12aa3caf',
    `swap(address executor, ${ONE_INCH_DESC}, bytes:opaque permit, bytes data)`,
  ),
  simulated(
    'bc80f1a8',
    'uniswapV3SwapTo(address recipient, uint256 amount, uint256 minReturn, uint256:address[] pools)',
  ),
  simulated('07ed2379', `swap(address executor, ${ONE_INCH_DESC}, bytes data)`),
  simulated(
    'e2c95c82',
    'unoswapTo(uint256:address to, uint256:address token, uint256 amount, uint256 minReturn, uint256:address dex)',
  ),
  simulated('175accdc', 'ethUnoswapTo(uint256:address to, uint256 minReturn, uint256:address dex)'),
  simulated(
    'f497df75',
    'fillOrderArgs((uint256 salt, uint256:address maker, uint256:address receiver, uint256:address makerAsset, uint256:address takerAsset, uint256 making, uint256 taking, uint256 makerTraits) order, bytes32 r, bytes32 vs, uint256 amount, uint256 takerTraits, bytes:opaque args)',
    'taker-target',
  ),
  // 0x: the actions are selector-prefixed bytes of functions that exist in no contract
  simulated(
    '1fff991f',
    'execute((address recipient, address buyToken, uint256 minAmountOut) slippage, bytes[] actions, bytes32 tracking)',
  ),
  simulated(
    '2213bc0b',
    'exec(address operator, address token, uint256 amount, address target, bytes:call data)',
  ),
  simulated(
    'c1fb425e',
    'TRANSFER_FROM(address recipient, ((address token, uint256 amount) permitted, uint256 nonce, uint256 deadline) permit, bytes:opaque signature)',
  ),
  simulated(
    '8d68a156',
    'UNISWAPV3(address recipient, uint256 bps, bytes:opaque path, uint256 minOut)',
  ),
  simulated(
    '38c9c147',
    'BASIC(address sellToken, uint256 bps, address pool, uint256 offset, bytes data)',
  ),
  simulated(
    'e3ead59e',
    `swapExactAmountIn(address executor, ${PARASWAP_GENERIC}, uint256:high partnerAndFee, bytes:opaque permit, bytes executorData)`,
  ),
  simulated(
    '876a02f6',
    `swapExactAmountInOnUniswapV3(${PARASWAP_UNISWAP_V3}, uint256:high partnerAndFee, bytes:opaque permit)`,
  ),
  simulated(
    '9871efa4',
    'unxswapByOrderId(uint256:address srcToken, uint256 amount, uint256 minReturn, bytes32:address[] pools)',
    'commission-trailer',
  ),
]
