/**
 * Contracts that honest calls name all the time. A list that holds one is wrong, or would stop the
 * service: the entry is refused and reported, and an operator decides. The service's own contracts
 * and configured tokens are added at start.
 */
import { parseListedAddress } from '../set/address-bytes.js'
import { buildAddressSet, findEntry, GRAM_BITS_SMALL } from '../set/address-set.js'

const KNOWN_INFRASTRUCTURE = [
  // Wrapped native: Ethereum, OP and Base, BNB, Polygon, Arbitrum
  '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
  '0x4200000000000000000000000000000000000006',
  '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c',
  '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270',
  '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
  // USDC: Ethereum, OP, BNB, Polygon, Base, Arbitrum
  '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85',
  '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d',
  '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
  '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
  // USDT, DAI (Ethereum)
  '0xdAC17F958D2ee523a2206206994597C13D831ec7',
  '0x6B175474E89094C44Da98b954EedeAC495271d0F',
  // Multicall3, Permit2, the CREATE2 proxy
  '0xcA11bde05977b3631167028862bE2a173976CA11',
  '0x000000000022D473030F116dDEE9F6B43aC78BA3',
  '0x4e59b44847b379578588920cA78FbF26c0B4956C',
  // Uniswap: v2 router, v3 router, SwapRouter02 (four), Universal Router, v3 factories
  '0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D',
  '0xE592427A0AEce92De3Edee1F18E0157C05861564',
  '0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45',
  '0x2626664c2603336E57B271c5C0b26F421741e481',
  '0xB971eF87ede563556b2ED4b1C0b0019111Dd85d2',
  '0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af',
  '0x1F98431c8aD98523631AE4a59f267346ea31F984',
  '0x33128a8fC17869897dcE68Ed026d694621f6FDfD',
  '0xdB1d10011AD0Ff90774D0C6Bb92e5C5c8b4461F7',
  // 1inch v5 and v6, 0x exchange proxy
  '0x1111111254EEB25477B68fb85Ed929f73A960582',
  '0x111111125421cA6dc452d289314280a0f8842A65',
  '0xDef1C0ded9bec7F1a1670819833240f027b25EfF',
  // ERC-4337 entry points v0.6 and v0.7, Aave v3 pool (Ethereum), Balancer v2 vault
  '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789',
  '0x0000000071727De22E5E9d8BAf0edAc6f37da032',
  '0x87870Bca3F3fD6335C3F4ce8392D69350B4fA4E2',
  '0xBA12222222228d8Ba445958a75a0704d566BF2C8',
] as const

/**
 * @param own addresses of the service itself: routers, delegates, configured tokens and vaults
 * @throws TypeError when one of them is not an address
 */
export function protectAddresses(own: readonly string[]): (entry: Uint8Array) => boolean {
  const known = [...KNOWN_INFRASTRUCTURE, ...own].map((text) => {
    const bytes = parseListedAddress(text)
    if (bytes === null) throw new TypeError(`not an address: ${text}`)
    return bytes
  })
  const set = buildAddressSet([{ packed: Buffer.concat(known), listIndex: 0 }], GRAM_BITS_SMALL)
  return (entry) => findEntry(set, entry, 0) >= 0
}
