import { type ContractFunction, operator, shared, simulated } from './contract-function.js'

const BALANCER_FUNDS =
  '(address sender, bool fromInternal, address recipient, bool toInternal) funds'
const SEAPORT_OFFER =
  '(uint8 itemType, address token, uint256 id, uint256 startAmount, uint256 endAmount)[] offer'
const SEAPORT_CONSIDERATION =
  '(uint8 itemType, address token, uint256 id, uint256 startAmount, uint256 endAmount, address recipient)[] consideration'
const SEAPORT_PARAMETERS = `(address offerer, address zone, ${SEAPORT_OFFER}, ${SEAPORT_CONSIDERATION}, uint8 orderType, uint256 startTime, uint256 endTime, bytes32 zoneHash, uint256 salt, bytes32 conduitKey, uint256 total) parameters`
const MORPHO_MARKET =
  '(address loanToken, address collateralToken, address oracle, address irm, uint256 lltv) market'

/** CoW, Aave, ERC-4626, Compound, Morpho, Balancer, Curve, Seaport. */
export const MARKET_FUNCTIONS: readonly ContractFunction[] = [
  // CoW: settlement, EthFlow order, pre-signature
  simulated(
    '13d79a0b',
    'settle(address[] tokens, uint256[] clearingPrices, (uint256 sell, uint256 buy, address receiver, uint256 a, uint256 b, uint32 validTo, bytes32 appData, uint256 fee, uint256 flags, uint256 executed, bytes:opaque signature)[] trades, (address target, uint256 value, bytes:call callData)[][3] interactions)',
  ),
  simulated(
    '322bba21',
    'createOrder((address buyToken, address receiver, uint256 sell, uint256 buy, bytes32 appData, uint256 fee, uint32 validTo, bool partially, int64 quoteId) order)',
  ),
  operator('ec6cb13f', 'setPreSignature(bytes:orderuid orderUid, bool signed)', 1),
  // Aave v3
  simulated(
    '617ba037',
    'supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
  ),
  simulated('69328dec', 'withdraw(address asset, uint256 amount, address to)'),
  simulated(
    'a415bcad',
    'borrow(address asset, uint256 amount, uint256 rateMode, uint16 referralCode, address onBehalfOf)',
  ),
  simulated(
    '573ade81',
    'repay(address asset, uint256 amount, uint256 rateMode, address onBehalfOf)',
  ),
  operator('c04a8a10', 'approveDelegation(address delegatee, uint256 amount)', 1),
  // ERC-4626
  simulated('6e553f65', 'deposit(uint256 assets, address receiver)'),
  simulated('94bf804d', 'mint(uint256 shares, address receiver)'),
  simulated('b460af94', 'withdraw(uint256 assets, address receiver, address owner)'),
  simulated('ba087652', 'redeem(uint256 shares, address receiver, address owner)'),
  // Compound v3 Bulker, Morpho Blue, Bundler3
  simulated('555029a6', 'invoke(bytes32[] actions, bytes:opaque[] data)', 'bulker-actions'),
  simulated(
    '50d8cd4b',
    `borrow(${MORPHO_MARKET}, uint256 assets, uint256 shares, address onBehalf, address receiver)`,
  ),
  operator('eecea000', 'setAuthorization(address authorized, bool isAuthorized)', 1),
  simulated(
    '374f435d',
    'multicall((address to, bytes:call data, uint256 value, bool skipRevert, bytes32 callbackHash)[] _)',
  ),
  // Balancer v2
  simulated(
    '52bbbe29',
    `swap((bytes32:high poolId, uint8 kind, address assetIn, address assetOut, uint256 amount, bytes userData) singleSwap, ${BALANCER_FUNDS}, uint256 limit, uint256 deadline)`,
  ),
  simulated(
    '945bcec9',
    `batchSwap(uint8 kind, (bytes32:high poolId, uint256 i, uint256 o, uint256 amount, bytes userData)[] swaps, address[] assets, ${BALANCER_FUNDS}, int256[] limits, uint256 deadline)`,
  ),
  // Curve router NG
  simulated(
    'c872a3c5',
    'exchange(address[11] route, uint256[5][5] swapParams, uint256 amount, uint256 minOut, address[5] pools, address receiver)',
  ),
  // Seaport 1.5 and 1.6
  simulated(
    'e7acab24',
    `fulfillAdvancedOrder((${SEAPORT_PARAMETERS}, uint120 numerator, uint120 denominator, bytes:opaque signature, bytes extraData) order, (uint256 orderIndex, uint8 side, uint256 index, uint256 identifier, bytes32[] proof)[] resolvers, bytes32 fulfillerConduitKey, address recipient)`,
  ),
  // The function was named to have the zero selector, so any call that starts with four zero bytes
  // has it as well
  shared(
    simulated(
      '00000000',
      'fulfillBasicOrder_efficient_6GL6yc((address considerationToken, uint256 considerationIdentifier, uint256 considerationAmount, address offerer, address zone, address offerToken, uint256 offerIdentifier, uint256 offerAmount, uint8 basicOrderType, uint256 startTime, uint256 endTime, bytes32 zoneHash, uint256 salt, bytes32 offererConduitKey, bytes32 fulfillerConduitKey, uint256 total, (uint256 amount, address recipient)[] additionalRecipients, bytes:opaque signature) _)',
    ),
  ),
]
