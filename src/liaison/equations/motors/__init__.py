"""Motors with transmissions: rotors, torques, the coordinates of motors."""
