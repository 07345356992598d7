/** A trade key with caps, for its own sub-wallet. */
export interface BenchKey {
  readonly secret: string
  readonly address: string
}

/** So high that no run reaches them; a capped send is measured. */
const CAPS = { daily_limit_usd: '1000000000', monthly_limit_usd: '10000000000' } as const
/** Key generation needs both domains; a few at a time keep them busy. */
const AT_ONCE = 8

/**
 * @param token a console token
 * @param policy of each key, in its wire form; absent for none
 */
export async function makeKeys(
  baseUrl: string,
  token: string,
  count: number,
  policy?: object,
): Promise<readonly BenchKey[]> {
  const terms = policy === undefined ? {} : { policy }
  const keys: BenchKey[] = []
  let next = 0
  const work = async () => {
    while (next < count) {
      const index = next++
      keys[index] = await makeKey(baseUrl, token, `bench ${index}`, terms)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return keys
}

async function makeKey(
  baseUrl: string,
  token: string,
  name: string,
  terms: object,
): Promise<BenchKey> {
  const post = async <T>(path: string, body: object): Promise<T> => {
    const response = await fetch(`${baseUrl}/api/v1/agent${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    // A failed answer contains no secret.
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }
  const wallet = await post<{ sub_wallet_id: string; addresses: { evm: string } }>('/wallets', {
    name,
  })
  const key = await post<{ secret: string }>('/keys', {
    name,
    sub_wallet_id: wallet.sub_wallet_id,
    permission: 'trade',
    ...CAPS,
    ...terms,
  })
  return { secret: key.secret, address: wallet.addresses.evm }
}
