// Generated from DevToken.sol by scripts/contracts/compile.ts; do not edit.
export const devTokenAbi = [
  {
    "inputs": [
      {
        "internalType": "string",
        "name": "name_",
        "type": "string"
      },
      {
        "internalType": "string",
        "name": "symbol_",
        "type": "string"
      },
      {
        "internalType": "address",
        "name": "owner_",
        "type": "address"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "allowance",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "needed",
        "type": "uint256"
      }
    ],
    "name": "ERC20InsufficientAllowance",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "sender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "balance",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "needed",
        "type": "uint256"
      }
    ],
    "name": "ERC20InsufficientBalance",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "approver",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidApprover",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "receiver",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidReceiver",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "sender",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidSender",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidSpender",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      }
    ],
    "name": "OwnableInvalidOwner",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "OwnableUnauthorizedAccount",
    "type": "error"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "owner",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "Approval",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "previousOwner",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "newOwner",
        "type": "address"
      }
    ],
    "name": "OwnershipTransferred",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "Transfer",
    "type": "event"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      }
    ],
    "name": "allowance",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "approve",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "balanceOf",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "decimals",
    "outputs": [
      {
        "internalType": "uint8",
        "name": "",
        "type": "uint8"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "mint",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "name",
    "outputs": [
      {
        "internalType": "string",
        "name": "",
        "type": "string"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "owner",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "renounceOwnership",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "symbol",
    "outputs": [
      {
        "internalType": "string",
        "name": "",
        "type": "string"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "totalSupply",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "transfer",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "transferFrom",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "newOwner",
        "type": "address"
      }
    ],
    "name": "transferOwnership",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  }
] as const

/** Creation code, without constructor arguments. */
export const devTokenBytecode =
  '0x608060405234801561000f575f5ffd5b50604051610e61380380610e6183398101604081905261002e9161017a565b808383600361003d838261028e565b50600461004a828261028e565b5050506001600160a01b03811661007a57604051631e4fbdf760e01b81525f600482015260240160405180910390fd5b6100838161008c565b5050505061034c565b600580546001600160a01b038381166001600160a01b0319831681179093556040519116919082907f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0905f90a35050565b634e487b7160e01b5f52604160045260245ffd5b5f82601f830112610100575f5ffd5b81516001600160401b03811115610119576101196100dd565b604051601f8201601f19908116603f011681016001600160401b0381118282101715610147576101476100dd565b60405281815283820160200185101561015e575f5ffd5b8160208501602083015e5f918101602001919091529392505050565b5f5f5f6060848603121561018c575f5ffd5b83516001600160401b038111156101a1575f5ffd5b6101ad868287016100f1565b602086015190945090506001600160401b038111156101ca575f5ffd5b6101d6868287016100f1565b604086015190935090506001600160a01b03811681146101f4575f5ffd5b809150509250925092565b600181811c9082168061021357607f821691505b60208210810361023157634e487b7160e01b5f52602260045260245ffd5b50919050565b601f821115610289578282111561028957805f5260205f20601f840160051c602085101561026257505f5b90810190601f840160051c035f5b81811015610285575f83820155600101610270565b5050505b505050565b81516001600160401b038111156102a7576102a76100dd565b6102bb816102b584546101ff565b84610237565b6020601f8211600181146102ed575f83156102d65750848201515b5f19600385901b1c1916600184901b178455610345565b5f84815260208120601f198516915b8281101561031c57878501518255602094850194600190920191016102fc565b508482101561033957868401515f19600387901b60f8161c191681555b505060018360011b0184555b5050505050565b610b08806103595f395ff3fe608060405234801561000f575f5ffd5b50600436106100da575f3560e01c806370a082311161008857806395d89b411161006357806395d89b41146101cd578063a9059cbb146101d5578063dd62ed3e146101e8578063f2fde38b1461022d575f5ffd5b806370a0823114610168578063715018a61461019d5780638da5cb5b146101a5575f5ffd5b806323b872dd116100b857806323b872dd14610131578063313ce5671461014457806340c10f1914610153575f5ffd5b806306fdde03146100de578063095ea7b3146100fc57806318160ddd1461011f575b5f5ffd5b6100e6610240565b6040516100f39190610951565b60405180910390f35b61010f61010a3660046109cc565b6102d0565b60405190151581526020016100f3565b6002545b6040519081526020016100f3565b61010f61013f3660046109f4565b6102e9565b604051601281526020016100f3565b6101666101613660046109cc565b61030c565b005b610123610176366004610a2e565b73ffffffffffffffffffffffffffffffffffffffff165f9081526020819052604090205490565b610166610322565b60055460405173ffffffffffffffffffffffffffffffffffffffff90911681526020016100f3565b6100e6610335565b61010f6101e33660046109cc565b610344565b6101236101f6366004610a4e565b73ffffffffffffffffffffffffffffffffffffffff9182165f90815260016020908152604080832093909416825291909152205490565b61016661023b366004610a2e565b610351565b60606003805461024f90610a7f565b80601f016020809104026020016040519081016040528092919081815260200182805461027b90610a7f565b80156102c65780601f1061029d576101008083540402835291602001916102c6565b820191905f5260205f20905b8154815290600101906020018083116102a957829003601f168201915b5050505050905090565b5f336102dd8185856103b9565b60019150505b92915050565b5f336102f68582856103cb565b610301858585610499565b506001949350505050565b610314610542565b61031e8282610595565b5050565b61032a610542565b6103335f6105ef565b565b60606004805461024f90610a7f565b5f336102dd818585610499565b610359610542565b73ffffffffffffffffffffffffffffffffffffffff81166103ad576040517f1e4fbdf70000000000000000000000000000000000000000000000000000000081525f60048201526024015b60405180910390fd5b6103b6816105ef565b50565b6103c68383836001610665565b505050565b73ffffffffffffffffffffffffffffffffffffffff8381165f908152600160209081526040808320938616835292905220547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff8110156104935781811015610485576040517ffb8f41b200000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8416600482015260248101829052604481018390526064016103a4565b61049384848484035f610665565b50505050565b73ffffffffffffffffffffffffffffffffffffffff83166104e8576040517f96c6fd1e0000000000000000000000000000000000000000000000000000000081525f60048201526024016103a4565b73ffffffffffffffffffffffffffffffffffffffff8216610537576040517fec442f050000000000000000000000000000000000000000000000000000000081525f60048201526024016103a4565b6103c68383836107aa565b60055473ffffffffffffffffffffffffffffffffffffffff163314610333576040517f118cdaa70000000000000000000000000000000000000000000000000000000081523360048201526024016103a4565b73ffffffffffffffffffffffffffffffffffffffff82166105e4576040517fec442f050000000000000000000000000000000000000000000000000000000081525f60048201526024016103a4565b61031e5f83836107aa565b6005805473ffffffffffffffffffffffffffffffffffffffff8381167fffffffffffffffffffffffff0000000000000000000000000000000000000000831681179093556040519116919082907f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0905f90a35050565b73ffffffffffffffffffffffffffffffffffffffff84166106b4576040517fe602df050000000000000000000000000000000000000000000000000000000081525f60048201526024016103a4565b73ffffffffffffffffffffffffffffffffffffffff8316610703576040517f94280d620000000000000000000000000000000000000000000000000000000081525f60048201526024016103a4565b73ffffffffffffffffffffffffffffffffffffffff8085165f9081526001602090815260408083209387168352929052208290558015610493578273ffffffffffffffffffffffffffffffffffffffff168473ffffffffffffffffffffffffffffffffffffffff167f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b9258460405161079c91815260200190565b60405180910390a350505050565b73ffffffffffffffffffffffffffffffffffffffff83166107e1578060025f8282546107d69190610ad0565b909155506108919050565b73ffffffffffffffffffffffffffffffffffffffff83165f9081526020819052604090205481811015610866576040517fe450d38c00000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8516600482015260248101829052604481018390526064016103a4565b73ffffffffffffffffffffffffffffffffffffffff84165f9081526020819052604090209082900390555b73ffffffffffffffffffffffffffffffffffffffff82166108ba576002805482900390556108e5565b73ffffffffffffffffffffffffffffffffffffffff82165f9081526020819052604090208054820190555b8173ffffffffffffffffffffffffffffffffffffffff168373ffffffffffffffffffffffffffffffffffffffff167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef8360405161094491815260200190565b60405180910390a3505050565b602081525f82518060208401528060208501604085015e5f6040828501015260407fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0601f83011684010191505092915050565b803573ffffffffffffffffffffffffffffffffffffffff811681146109c7575f5ffd5b919050565b5f5f604083850312156109dd575f5ffd5b6109e6836109a4565b946020939093013593505050565b5f5f5f60608486031215610a06575f5ffd5b610a0f846109a4565b9250610a1d602085016109a4565b929592945050506040919091013590565b5f60208284031215610a3e575f5ffd5b610a47826109a4565b9392505050565b5f5f60408385031215610a5f575f5ffd5b610a68836109a4565b9150610a76602084016109a4565b90509250929050565b600181811c90821680610a9357607f821691505b602082108103610aca577f4e487b71000000000000000000000000000000000000000000000000000000005f52602260045260245ffd5b50919050565b808201808211156102e3577f4e487b71000000000000000000000000000000000000000000000000000000005f52601160045260245ffd'
