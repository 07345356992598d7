import { useQuery } from '@tanstack/preact-query'
import { call, type Output } from '../api.js'

export type Member = Output<'GET', '/api/v1/agent/members'>['members'][number]

export function useMembers() {
  return useQuery({
    queryKey: ['/api/v1/agent/members'],
    queryFn: () => call('GET', '/api/v1/agent/members', {}),
  })
}
