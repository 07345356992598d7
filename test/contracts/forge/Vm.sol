// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice The cheatcodes of forge that these tests use.
interface Vm {
    function addr(uint256 privateKey) external pure returns (address);

    function sign(
        uint256 privateKey,
        bytes32 digest
    ) external pure returns (uint8 v, bytes32 r, bytes32 s);

    function signP256(
        uint256 privateKey,
        bytes32 digest
    ) external pure returns (bytes32 r, bytes32 s);

    function publicKeyP256(uint256 privateKey) external view returns (uint256 x, uint256 y);

    function etch(address target, bytes calldata code) external;

    function deal(address target, uint256 balance) external;

    function prank(address caller) external;

    function warp(uint256 timestamp) external;

    function chainId(uint256 id) external;

    function expectRevert() external;

    function expectRevert(bytes4 selector) external;

    function expectPartialRevert(bytes4 selector) external;

    function assume(bool condition) external pure;
}

Vm constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
