import { type ContractFunction, simulated } from './contract-function.js'

/**
 * Uniswap v2 and v3 routers, SwapRouter02, Universal Router, v4 position manager. A recipient of
 * zero, one or two is a sentinel for the router or the sender; the real one is in a later call.
 */
export const UNISWAP_FUNCTIONS: readonly ContractFunction[] = [
  simulated(
    '38ed1739',
    'swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)',
  ),
  simulated(
    '8803dbee',
    'swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, address[] path, address to, uint256 deadline)',
  ),
  simulated(
    '7ff36ab5',
    'swapExactETHForTokens(uint256 amountOutMin, address[] path, address to, uint256 deadline)',
  ),
  simulated(
    '18cbafe5',
    'swapExactTokensForETH(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)',
  ),
  simulated(
    'e8e33700',
    'addLiquidity(address tokenA, address tokenB, uint256 a, uint256 b, uint256 aMin, uint256 bMin, address to, uint256 deadline)',
  ),
  simulated(
    'f305d719',
    'addLiquidityETH(address token, uint256 amount, uint256 amountMin, uint256 ethMin, address to, uint256 deadline)',
  ),
  simulated(
    'c04b8d59',
    'exactInput((bytes:path path, address recipient, uint256 deadline, uint256 amountIn, uint256 amountOutMinimum) _)',
  ),
  simulated(
    '414bf389',
    'exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 deadline, uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) _)',
  ),
  simulated(
    'f28c0498',
    'exactOutput((bytes:path path, address recipient, uint256 deadline, uint256 amountOut, uint256 amountInMaximum) _)',
  ),
  simulated(
    'db3e2198',
    'exactOutputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 deadline, uint256 amountOut, uint256 amountInMaximum, uint160 sqrtPriceLimitX96) _)',
  ),
  simulated('ac9650d8', 'multicall(bytes:call[] _)'),
  simulated('49404b7c', 'unwrapWETH9(uint256 amountMinimum, address recipient)'),
  simulated('df2ab5bb', 'sweepToken(address token, uint256 amountMinimum, address recipient)'),
  simulated(
    '9b2c0a37',
    'unwrapWETH9WithFee(uint256 amountMinimum, address recipient, uint256 feeBips, address feeRecipient)',
  ),
  simulated(
    'e0e189a0',
    'sweepTokenWithFee(address token, uint256 amountMinimum, address recipient, uint256 feeBips, address feeRecipient)',
  ),
  // SwapRouter02
  simulated(
    'b858183f',
    'exactInput((bytes:path path, address recipient, uint256 amountIn, uint256 amountOutMinimum) _)',
  ),
  simulated(
    '04e45aaf',
    'exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) _)',
  ),
  simulated(
    '09b81346',
    'exactOutput((bytes:path path, address recipient, uint256 amountOut, uint256 amountInMaximum) _)',
  ),
  simulated(
    '5023b4df',
    'exactOutputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountOut, uint256 amountInMaximum, uint160 sqrtPriceLimitX96) _)',
  ),
  simulated('5ae401dc', 'multicall(uint256 deadline, bytes:call[] _)'),
  simulated('1f0464d1', 'multicall(bytes32 previousBlockhash, bytes:call[] _)'),
  simulated(
    '472b43f3',
    'swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to)',
  ),
  simulated(
    '42712a67',
    'swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, address[] path, address to)',
  ),
  // v3 position manager
  simulated(
    '88316456',
    'mint((address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint256 a, uint256 b, uint256 aMin, uint256 bMin, address recipient, uint256 deadline) _)',
  ),
  simulated('fc6f7865', 'collect((uint256 tokenId, address recipient, uint128 a, uint128 b) _)'),
  // Universal Router: with and without a deadline
  simulated(
    '3593564c',
    'execute(bytes:opaque commands, bytes:opaque[] inputs, uint256 deadline)',
    'universal-router',
  ),
  simulated(
    '24856bc3',
    'execute(bytes:opaque commands, bytes:opaque[] inputs)',
    'universal-router',
  ),
  // v4 position manager; the one argument is abi.encode(bytes actions, bytes[] params)
  simulated(
    'dd46508f',
    'modifyLiquidities(bytes:opaque unlockData, uint256 deadline)',
    'v4-actions',
  ),
]
