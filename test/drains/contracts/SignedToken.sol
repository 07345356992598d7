// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @notice Every way of moving a token by signature. The service signs no such message, so a model
/// of one counts here as got elsewhere: its `r` names the signer, and the tests alone make it.
contract SignedToken is ERC20 {
    mapping(bytes32 => bool) public used;

    constructor() ERC20("Signed", "SGN") {}

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @dev EIP-2612.
    function permit(
        address owner,
        address spender,
        uint256 value,
        uint256,
        uint8,
        bytes32 r,
        bytes32
    ) external {
        _check(owner, r);
        _approve(owner, spender, value);
    }

    /// @dev DAI's.
    function permit(
        address holder,
        address spender,
        uint256,
        uint256,
        bool allowed,
        uint8,
        bytes32 r,
        bytes32
    ) external {
        _check(holder, r);
        _approve(holder, spender, allowed ? type(uint256).max : 0);
    }

    /// @dev EIP-3009.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256,
        uint256,
        bytes32 nonce,
        uint8,
        bytes32 r,
        bytes32
    ) external {
        _check(from, r);
        require(!used[nonce], "used");
        used[nonce] = true;
        _transfer(from, to, value);
    }

    function _check(address signer, bytes32 r) private pure {
        require(r == keccak256(abi.encode(signer)), "signature");
    }
}
